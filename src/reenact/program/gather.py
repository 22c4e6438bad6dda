"""Find the files of a program: the entry, the local modules it imports, the data files it names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from reenact.errors import UnreadableProgram
from reenact.program.launcher import Launch
from reenact.program.program import Program
from reenact.program.read.index import DATA_SUFFIXES, FileIndex, index_of
from reenact.program.read.scope import Binding
from reenact.program.source import SourceFile, read_source

MAX_FILES = 150
MAX_TOTAL_CHARACTERS = 6_000_000


def locate(launch: Launch, working: Path) -> tuple[PurePosixPath, Path, tuple[Path, ...]]:
    """The entry's path, the program's folder, and the folders that imports are looked up in."""
    if launch.module:
        return _locate_module(launch.target, working)
    path = Path(os.path.abspath(working / launch.target))  # noqa: PTH100  # must not follow links
    if not path.exists():
        raise UnreadableProgram(
            f"There is no such file. Received: {launch.target}.",
            next_step="Check the name, or put `--` in front of a launcher line.",
        )
    if not path.is_file():
        raise UnreadableProgram(
            f"A program is a file, not a folder or a device. Received: {launch.target}.",
            next_step="Name the script inside it, or start the package with `-m`.",
        )
    bases = [path.parent]
    if working in path.parent.parents:
        bases.append(working)
    return PurePosixPath(path.name), path.parent, tuple(bases)


def _locate_module(name: str, working: Path) -> tuple[PurePosixPath, Path, tuple[Path, ...]]:
    parts = name.split(".")
    for base in (working, working / "src"):
        stem = base.joinpath(*parts)
        for candidate in (stem / "__main__.py", stem.with_suffix(".py")):
            if candidate.is_file():
                return PurePosixPath(candidate.relative_to(base)), base, (base,)
    raise UnreadableProgram(
        f"No package or module of that name lies below {working}. Received: -m {name}.",
        next_step="Start from the folder that holds the package.",
    )


def gather(
    launch: Launch, working: Path, folder: Path, bases: tuple[Path, ...], entry: SourceFile
) -> Program:
    """Follow imports and data file names from the entry; the folder widens to hold all that was found."""
    found: dict[Path, SourceFile | None] = {folder / entry.path: entry}
    todo = [folder / entry.path]
    total = len(entry.text)
    while todo and len(found) < MAX_FILES and total < MAX_TOTAL_CHARACTERS:
        path = todo.pop(0)
        source = found[path]
        index = index_of(source) if source is not None and path.suffix not in DATA_SUFFIXES else ""
        if isinstance(index, str):
            continue
        for other in _references(index, path, bases, working, launch):
            if other in found or len(found) >= MAX_FILES:
                continue
            found[other] = read_source(other.parent, PurePosixPath(other.name))
            total += len(found[other].text)  # type: ignore[union-attr]
            todo.append(other)
    return _program(launch, working, bases, found)


def _program(
    launch: Launch, working: Path, bases: tuple[Path, ...], found: dict[Path, SourceFile | None]
) -> Program:
    root = bases[0]
    if any(root not in path.parents for path in found):
        root = bases[-1]
    files = []
    for path, source in found.items():
        if source is not None and root in path.parents:
            relative = PurePosixPath(path.relative_to(root))
            files.append(read_source(root, relative) if relative != source.path else source)
    ordered = sorted(files[1:], key=lambda file: (file.path.suffix in DATA_SUFFIXES, str(file.path)))
    relative_bases = tuple(
        PurePosixPath(base.relative_to(root)) for base in bases if base.is_relative_to(root)
    )
    return Program(root, files[0].path, (files[0], *ordered), launch, working, relative_bases)


def _references(
    index: FileIndex, path: Path, bases: tuple[Path, ...], working: Path, launch: Launch
) -> Iterator[Path]:
    for binding in index.imports:
        yield from _modules(binding, path, bases)
    names = sorted(index.data_names) + [word for word in launch.arguments if word.endswith(DATA_SUFFIXES)]
    for name in names:
        for base in (working, path.parent, bases[0]):
            candidate = Path(os.path.normpath(base / name.rpartition("=")[2]))
            if _inside(candidate, bases):
                yield candidate
                break


def _modules(binding: Binding, path: Path, bases: tuple[Path, ...]) -> Iterator[Path]:
    parts = [part for part in binding.dotted.split(".") if part]
    tops = bases if binding.level == 0 else (_up(path, binding.level),)
    for top in tops:
        hits = [hit for size in range(1, len(parts) + 1) for hit in _module_files(top, parts[:size])]
        if binding.level and not parts:
            hits = list(_module_files(top, []))
        hits = [hit for hit in hits if _inside(hit, bases)]
        if hits:
            yield from hits
            return


def _module_files(top: Path, parts: list[str]) -> Iterator[Path]:
    stem = top.joinpath(*parts)
    if parts:
        yield stem.parent / f"{stem.name}.py"
    yield stem / "__init__.py"


def _up(path: Path, level: int) -> Path:
    for _ in range(level):
        path = path.parent
    return path


def _inside(path: Path, bases: tuple[Path, ...]) -> bool:
    """A regular file below one of the folders, also after links are followed."""
    try:
        if not path.is_file():
            return False
        real = path.resolve()
    except (OSError, RuntimeError, ValueError):
        return False
    return any(base.resolve() in real.parents for base in bases)
