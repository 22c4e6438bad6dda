"""The code that is judged, read from a folder, and its quality: lint, type hints, repeated lines.

Nothing of the code runs. Text files are read within bounds, links are not followed. Lint is what
ruff's default rules find, with no configuration of the user's or the project's. A repeated line
stands in a run of at least six lines that occurs elsewhere too, blank lines and comments apart.
"""

import ast
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from reenact.codegen.project import Project
from reenact.codegen.static_checks import ruff
from reenact.codegen.syntax import FunctionNode
from reenact.errors import InputError
from reenact.files import read_start
from reenact.paper.lineage.code import source_files

ENDINGS = (".py", ".yaml", ".yml", ".toml", ".json", ".cfg", ".ini", ".sh")
NAMES = ("requirements.txt", "Dockerfile", "Makefile")
SKIPPED = frozenset(
    {"__pycache__", "node_modules", "venv", "env", "site-packages", "build", "dist"}
)
MOST_CHARACTERS = 240_000
"""Of all files together: what fits into a judge's prompt with its lines numbered."""
MOST_FILE = 100_000
MOST_FILES = 2_000
RUN = 6
"""Lines that must be alike in a row."""


def read_code(folder: Path) -> tuple[Project, tuple[str, ...]]:
    """The code of a folder, shorter files first when it is more than a judge can read; and what was
    left out, in words.
    """
    if not folder.is_dir():
        raise InputError(f"There is no folder of code at {folder}.")
    found: dict[str, str] = {}
    notes: list[str] = []
    sources = source_files(
        folder,
        lambda name: name.endswith(ENDINGS) or name in NAMES,
        SKIPPED,
    )
    paths = list(islice(sources, MOST_FILES + 1))
    if len(paths) > MOST_FILES:
        raise InputError(f"The folder {folder} holds more than {MOST_FILES} files of code.")
    for path in paths:
        name = path.relative_to(folder).as_posix()
        try:
            found[name] = read_start(path, MOST_FILE + 1).decode("utf-8")
        except (OSError, UnicodeDecodeError):
            notes.append(f"{name} is not readable text and was left out.")
    for name in [name for name, text in found.items() if len(text) > MOST_FILE]:
        del found[name]
        notes.append(f"{name} has more than {MOST_FILE} characters and was left out.")
    if not any(name.endswith(".py") and text.strip() for name, text in found.items()):
        raise InputError(f"The folder holds no Python code that can be judged. Received: {folder}")
    kept = Project()
    left = MOST_CHARACTERS
    for name in sorted(
        found,
        key=lambda one: (
            not one.endswith(".py"),
            len(found[one]),
            one,
        ),
    ):
        if len(found[name]) <= left:
            kept = kept.changed({name: found[name]})
            left -= len(found[name])
    gone = (name for name in found if name not in kept.files)
    notes += [
        f"{name} did not fit into {MOST_CHARACTERS} characters and was left out." for name in gone
    ]
    return kept, tuple(notes)


@dataclass(frozen=True, slots=True)
class Quality:
    """Figures of one folder of Python."""

    files: int
    lines: int
    """Lines that are neither blank nor comment."""
    unparsed: tuple[str, ...]
    """Files that are not Python."""
    lint: int | None
    """What ruff objects to; none when it could not be asked."""
    rules: tuple[tuple[str, int], ...]
    """The commonest rules."""
    typed: float | None
    """Share of parameters and returns with a type; none without a function."""
    repeated: float
    """Share of lines that are elsewhere too."""


def quality_of(files: Mapping[str, str]) -> Quality:
    """Figures of Python files by name."""
    trees = Project(files).trees()
    lines = {name: map(str.strip, text.splitlines()) for name, text in files.items()}
    own = {
        name: [one for one in each if one and not one.startswith("#")]
        for name, each in lines.items()
    }
    total = sum(map(len, own.values()))
    linted = [ruff(files[name]) for name in sorted(files)]
    codes = Counter(str(code or "invalid-syntax") for one in linted for code, _, _ in one or ())
    unparsed = tuple(name for name in sorted(files) if name not in trees)
    lint, rules = (
        (None, ())
        if None in linted
        else (
            codes.total(),
            tuple(codes.most_common(5)),
        )
    )
    repeated = _repeated(own) / total if total else 0.0
    return Quality(
        len(files),
        lines=total,
        unparsed=unparsed,
        lint=lint,
        rules=rules,
        typed=_typed(trees),
        repeated=repeated,
    )


def _typed(trees: Mapping[str, ast.Module]) -> float | None:
    places: list[bool] = []
    for function in (node for tree in trees.values() for node in ast.walk(tree)):
        if isinstance(function, FunctionNode):
            named = (one for one in ast.iter_child_nodes(function.args) if isinstance(one, ast.arg))
            # No one annotates these two.
            own = [one for one in named if one.arg not in ("self", "cls")]
            places += [
                *(one.annotation is not None for one in own),
                function.returns is not None,
            ]
    if places:
        return sum(places) / len(places)
    return None


def _repeated(own: Mapping[str, list[str]]) -> int:
    """How many lines stand in a run that occurs more than once."""
    places: dict[tuple[str, ...], list[tuple[str, int]]] = defaultdict(list)
    for name, lines in own.items():
        for start in range(len(lines) - RUN + 1):
            places[tuple(lines[start : start + RUN])].append((name, start))
    repeated = [place for found in places.values() if len(found) > 1 for place in found]
    return len({(name, start + step) for name, start in repeated for step in range(RUN)})
