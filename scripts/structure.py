"""The structure of the code: packages, floors, circles of imports, density, and what is packed.

    python scripts/structure.py                       exit 0: no circle, no pattern, no new double name
    python scripts/structure.py --list words          every place of one pattern, FILE:LINE; or of `all`
    python scripts/structure.py --list circles        the files of each circle, and the imports that close it
    python scripts/structure.py --list class-names    the places of each class name that is used twice
    python scripts/structure.py --beside PATH NAME    measures another tree the same way; may be given again
    python scripts/structure.py --root PATH           another tree in place of src/reenact

Columns: files; code lines (no blank line, comment or docstring); syntax nodes; nodes per code line; the floor
of the package (0 imports no other package; packages that import each other share one) and how many floors its
own files have; packing patterns. What counts is described in `structure_tree.py`, `structure_imports.py` and
`structure_patterns.py`.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from structure_imports import Import, Kind, circles_of, floors_of, imports_of, ties
from structure_names import STILL_SHARED, PublicClass, classes_used_twice
from structure_patterns import NAMES, Hit, hits_of
from structure_tree import TOP, Module, modules_of

ROOT = Path(__file__).parents[1] / "src" / "reenact"
MOST_DENSE = 7.9
MEASURED = (
    "default branches of 20 to 22 August 2026, by --beside FOLDER NAME, tests in these folders "
    "included"
)
OTHERS = {
    "optuna": ("optuna/ at 1d8ce7bb6", 220, 24_471, 167_524),
    "pytest": ("src/_pytest/ at df87db7b0", 77, 24_616, 162_247),
    "keras": ("keras/ at 3422977a5e", 941, 245_242, 1_697_726),
    "pydantic-ai": ("pydantic_ai_slim/pydantic_ai/ at 4fda38988", 284, 69_669, 445_744),
}
"""Folder and commit, files, code lines, nodes."""
COUNTS = {
    Kind.TOP: "at the top of modules",
    Kind.INSIDE: "+ inside functions",
    Kind.TYPES: "+ for types only",
}
CIRCLES = "circles"
CLASS_NAMES = "class-names"
HEAD = f"{'files':>6} {'lines':>8} {'nodes':>10} {'n/line':>6}"


@dataclass(frozen=True)
class Size:
    """How much there is of something."""

    files: int
    lines: int
    nodes: int

    @property
    def density(self) -> float:
        """Nodes per code line."""
        return self.nodes / self.lines if self.lines else 0.0

    def __str__(self) -> str:
        return f"{self.files:6,} {self.lines:8,} {self.nodes:10,} {self.density:6.1f}"


def size_of(modules: Collection[Module]) -> Size:
    """Files, code lines and nodes."""
    lines = sum(module.code_lines for module in modules)
    nodes = sum(module.nodes for module in modules)
    return Size(len(modules), lines, nodes)


@dataclass(frozen=True)
class Structure:
    """What is known of a tree."""

    modules: tuple[Module, ...]
    imports: tuple[Import, ...]
    hits: tuple[Hit, ...]

    @property
    def shared_names(self) -> dict[str, list[PublicClass]]:
        """Class names that more than one public class has."""
        return classes_used_twice(self.modules)

    @property
    def circles(self) -> dict[Kind, list[list[str]]]:
        """By what imports are counted."""
        return {kind: circles_of(self.imports, kind) for kind in Kind}

    @property
    def packages(self) -> dict[str, list[Module]]:
        """The files of each package."""
        packages: dict[str, list[Module]] = {}
        for module in self.modules:
            packages.setdefault(module.package, []).append(module)
        return packages


def structure_of(root: Path) -> Structure:
    """Read a tree."""
    modules = modules_of(root)
    return Structure(tuple(modules), tuple(imports_of(modules)), tuple(hits_of(modules)))


def package_graph(structure: Structure) -> dict[str, set[str]]:
    """Which package imports which, a file at the top by itself. Imports for types are left out."""
    place = {module.name: _package_or_file(module) for module in structure.modules}
    graph: dict[str, set[str]] = {}
    for each in structure.imports:
        if each.kind != Kind.TYPES and place[each.source] != place[each.target]:
            graph.setdefault(place[each.source], set()).add(place[each.target])
    return graph


def _package_or_file(module: Module) -> str:
    return module.file if module.package == TOP else module.package


def file_graph(structure: Structure, package: str) -> dict[str, set[str]]:
    """Which file of a package imports which. Imports for types are left out."""
    own = {module.name for module in structure.packages[package]}
    graph: dict[str, set[str]] = {}
    for each in structure.imports:
        if each.kind != Kind.TYPES and each.source in own and each.target in own:
            graph.setdefault(each.source, set()).add(each.target)
    return graph


def table(structure: Structure) -> Iterator[str]:
    """One line a package, the highest floor first, and their sum."""
    packages = structure.packages
    floors = floors_of(
        package_graph(structure),
        {_package_or_file(module): None for module in structure.modules},
    )
    packed = Counter(hit.package for hit in structure.hits)
    yield f"{'package':14} {HEAD} {'floor':>6} {'floors':>7} {'packed':>7}"
    for package in sorted(packages, key=lambda name: (-floors.get(name, 0), name)):
        own = floors_of(
            file_graph(structure, package),
            [module.name for module in packages[package]],
        )
        floor = floors.get(package, "")
        tail = f"{floor:>6} {max(own.values()) + 1:7} {packed[package]:7}"
        yield f"{package:14} {size_of(packages[package])} {tail}"
    yield f"{'all':14} {size_of(structure.modules)} {'':6} {'':7} {len(structure.hits):7}"
    yield f"floors: {max(floors.values(), default=-1) + 1}"


def circle_lines(circles: Mapping[Kind, list[list[str]]]) -> Iterator[str]:
    """How many circles there are by each count, and of how many files."""
    for kind, found in circles.items():
        sizes = ", ".join(str(len(circle)) for circle in found)
        yield (
            f"circles, imports {COUNTS[kind]}: "
            f"{len(found)}{f' (of {sizes} files)' if found else ''}"
        )


def circle_places(structure: Structure) -> Iterator[str]:
    """Each circle by the fewest kinds of import that make it, and what closes it."""
    shown: set[tuple[str, ...]] = set()
    for kind, circles in structure.circles.items():
        for circle in circles:
            if tuple(circle) in shown:
                continue
            shown.add(tuple(circle))
            yield f"{len(circle)} files, imports {COUNTS[kind]}: {', '.join(circle)}"
            for tie in ties(structure.imports, circle, kind):
                yield f"    {tie.place}: {tie.source} imports {tie.target}"


def pattern_lines(hits: Collection[Hit]) -> Iterator[str]:
    """How often each pattern is there, and in which packages most."""
    for name in NAMES:
        packages = Counter(hit.package for hit in hits if hit.pattern == name)
        most = ", ".join(f"{package} {count}" for package, count in packages.most_common(5))
        yield f"{name:20} {packages.total():5}  {most}".rstrip()


def name_lines(shared: Mapping[str, list[PublicClass]]) -> Iterator[str]:
    """How many class names are used twice, and which of them are new."""
    yield f"class names used twice: {len(shared)}  {', '.join(shared)}".rstrip()
    new = [name for name in shared if name not in STILL_SHARED]
    if new:
        yield f"new among them: {', '.join(new)}"


def beside_lines(own: Size, others: Collection[tuple[str, Path]]) -> Iterator[str]:
    """The density next to that of others: those measured now, and those recorded."""
    yield f"{'nodes per line':14} {HEAD}"
    yield f"{'this tree':14} {own}  at most {MOST_DENSE}"
    for name, path in others:
        yield f"{name:14} {size_of(modules_of(path))}  measured now"
    for name, (place, *counts) in OTHERS.items():
        yield f"{name:14} {Size(*counts)}  {place}"
    yield f"recorded: {MEASURED}"


def listed(structure: Structure, what: str) -> Iterator[str]:
    """Every place of a pattern, of all patterns, or of the circles."""
    if what == CIRCLES:
        yield from circle_places(structure)
        return
    if what == CLASS_NAMES:
        for name, classes in structure.shared_names.items():
            yield f"{name}: {', '.join(one.place for one in classes)}"
        return
    for hit in structure.hits:
        if what in (hit.pattern, "all"):
            yield f"{hit.place}: {hit.pattern}"


def report(structure: Structure, others: Collection[tuple[str, Path]] = ()) -> Iterator[str]:
    """All of it."""
    yield from table(structure)
    yield ""
    yield from circle_lines(structure.circles)
    yield ""
    yield from pattern_lines(structure.hits)
    yield ""
    yield from name_lines(structure.shared_names)
    yield ""
    yield from beside_lines(size_of(structure.modules), others)


def options() -> argparse.ArgumentParser:
    """What the command takes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--root", type=Path, default=ROOT)
    parser.add_argument("--list", choices=(CIRCLES, CLASS_NAMES, "all", *NAMES))
    parser.add_argument("--beside", nargs=2, action="append", default=[], metavar=("PATH", "NAME"))
    return parser


def main(words: list[str]) -> int:
    """Print it; 1 while circles, patterns or new double class names are left."""
    asked = options().parse_args(words)
    structure = structure_of(asked.root)
    others = [(name, Path(path)) for path, name in asked.beside]
    for path in (asked.root, *(path for _name, path in others)):
        if not path.is_dir():
            print(f"There is no folder {path}.", file=sys.stderr)
            return 2
    lines = listed(structure, asked.list) if asked.list else report(structure, others)
    for line in lines:
        print(line)
    new_names = structure.shared_names.keys() - STILL_SHARED
    return 1 if structure.hits or new_names or any(structure.circles.values()) else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
