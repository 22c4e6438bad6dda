"""Code quality of what was generated: lint, type hints, repeated lines. Nothing of the code runs.

Lint is what ruff's default rules find, with no configuration of the user's or the project's. A repeated line
stands in a run of at least six lines that occurs elsewhere too, blank lines and comments apart.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from reenact.codegen.project import parsed
from reenact.codegen.static_checks import ruff

RUN = 6
"""Lines that must be alike in a row."""


@dataclass(frozen=True, slots=True)
class Quality:
    """Figures of one folder of Python."""

    files: int
    lines: int
    """Lines that are neither blank nor comment."""
    unparsed: tuple[str, ...]
    """Files that are no Python."""
    lint: int | None
    """What ruff objects to; none when it could not be asked."""
    rules: tuple[tuple[str, int], ...]
    """The commonest rules."""
    typed: float | None
    """Share of parameters and returns with a type; none without a function."""
    repeated: float
    """Share of lines that stand elsewhere too."""

    @property
    def lint_a_hundred(self) -> float | None:
        """Objections a hundred lines."""
        return None if self.lint is None or not self.lines else 100 * self.lint / self.lines


def quality_of(files: Mapping[str, str]) -> Quality:
    """Figures of Python files by name."""
    trees = {name: tree for name, text in files.items() if (tree := parsed(text)) is not None}
    own = {name: _lines(text) for name, text in files.items()}
    total = sum(map(len, own.values()))
    found = _linted(files)
    return Quality(
        files=len(files),
        lines=total,
        unparsed=tuple(name for name in sorted(files) if name not in trees),
        lint=None if found is None else found.total(),
        rules=() if found is None else tuple(found.most_common(5)),
        typed=_typed(trees.values()),
        repeated=_repeated(own) / total if total else 0.0,
    )


def _lines(text: str) -> list[str]:
    stripped = (line.strip() for line in text.splitlines())
    return [line for line in stripped if line and not line.startswith("#")]


def _typed(trees: Iterable[ast.Module]) -> float | None:
    places: list[bool] = []
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                places += _annotated(node)
    return sum(places) / len(places) if places else None


def _annotated(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[bool]:
    given = function.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    named += [one for one in (given.vararg, given.kwarg) if one is not None]
    # Nobody annotates these two.
    own = [one for number, one in enumerate(named) if number or one.arg not in ("self", "cls")]
    return [*(one.annotation is not None for one in own), function.returns is not None]


def _repeated(own: Mapping[str, list[str]]) -> int:
    """How many lines stand in a run that occurs more than once."""
    places: dict[tuple[str, ...], list[tuple[str, int]]] = defaultdict(list)
    for name, lines in own.items():
        for start in range(len(lines) - RUN + 1):
            places[tuple(lines[start : start + RUN])].append((name, start))
    marked = {
        (name, start + step)
        for found in places.values()
        if len(found) > 1
        for name, start in found
        for step in range(RUN)
    }
    return len(marked)


def _linted(files: Mapping[str, str]) -> Counter[str] | None:
    found: Counter[str] = Counter()
    for name in sorted(files):
        said = ruff(files[name])
        if said is None:
            return None
        found.update(str(code or "invalid-syntax") for code, _, _ in said)
    return found
