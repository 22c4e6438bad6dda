"""Whether the truth of a new training fits its program; what is locked has passed this."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from benchmarks.dataset.training import TRAININGS, Training, Truth
from reenact.program.syntax.notebook import read_notebook

LONGEST_S = 60.0
"""What one training may take."""


def problems(training: Training, folder: Path = TRAININGS) -> Iterator[str]:
    """Sentences about what does not fit, of a program that is kept here."""
    root = folder / training.id
    if training.foreign is not None:
        return
    if not (root / training.path).exists():
        yield f"{training.id}: there is no {training.path}."
        return
    if not 0 < training.seconds <= LONGEST_S:
        yield (
            f"{training.id}: one training takes {training.seconds:g} s, at most {LONGEST_S:g} are "
            f"wanted."
        )
    for file in sorted(root.rglob("*.py")):
        try:
            ast.parse(file.read_text(encoding="utf-8"))
        except SyntaxError as error:
            yield f"{training.id}: {file.name} is not Python: {error.msg}."
    for truth in training.fault:
        yield from _misplaced(training, truth, root)


def _misplaced(training: Training, truth: Truth, root: Path) -> Iterator[str]:
    file = root / (truth.file or training.path)
    if not file.is_file():
        yield f"{training.id}: there is no {truth.file or training.path}."
        return
    lines = _lines(file, truth.cell)
    for number in truth.lines:
        line = lines[number - 1].strip() if number <= len(lines) else ""
        if not line or line.startswith("#"):
            yield f"{training.id}: line {number} of {file.name} is no code."


def _lines(file: Path, index: int | None) -> list[str]:
    text = file.read_text(encoding="utf-8")
    if index is None:
        return text.splitlines()
    cells = {cell.index: cell.source for cell in read_notebook(text).cells}
    return cells.get(index, "").splitlines()
