"""A project as a program reads it, nothing run: named values, the hyperparameters in force, what is
called."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from reenact.codegen.project import ENTRY, Project
from reenact.errors import UnreadableProgram
from reenact.paper.criterion import CodeLine
from reenact.paper.fingerprint.vocabulary import squeezed
from reenact.paper.verify.settings import DATA, Setting, called, line_at, read_names, settings_of
from reenact.program.hyperparameter import Kind as Turns
from reenact.program.program import program_from_text

CONCEPTS = {
    Turns.BATCH_SIZE: "batch size",
    Turns.LEARNING_RATE: "learning rate",
    Turns.EPOCHS: "epochs",
    Turns.DROPOUT: "dropout",
    Turns.WEIGHT_DECAY: "weight decay",
    Turns.MOMENTUM: "momentum",
    Turns.UNITS: "hidden units",
    Turns.FILTERS: "filters",
    Turns.KERNEL_SIZE: "kernel size",
    Turns.GRADIENT_CLIP: "gradient clipping",
}
"""Hyperparameters by the names of the vocabulary."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a program sees of a project."""

    settings: tuple[Setting, ...]
    """Every value under a name, whether it is used or not."""
    hyperparameters: tuple[Setting, ...]
    """Values in force where a training takes them, followed through names and config files."""
    calls: tuple[tuple[str, CodeLine], ...]
    """The last part of every name that is called."""
    read: frozenset[str] | None = None
    """Names that the code reads; none when it may read any."""

    def uses(self, one: Setting) -> bool:
        """Whether anything takes this value, as far as the text shows."""
        return one.given or self.read is None or squeezed(one.name) in self.read


def read_project(project: Project) -> Reading:
    """Everything; a file that is no Python or no data adds nothing."""
    python = {name: text for name, text in sorted(project.files.items()) if name.endswith(".py")}
    calls = tuple(
        (callee, line_at(name, text, number))
        for name, text in python.items()
        for callee, number in called(text)
    )
    names = [read_names(text) for text in python.values()]
    read = None if None in names else frozenset().union(*(one for one in names if one))
    return Reading(settings_of(project), tuple(_hyperparameters(project)), calls, read)


def _hyperparameters(project: Project) -> Iterator[Setting]:
    from reenact.program.read.reading import read

    if ENTRY not in project.files:
        return
    suffixes = {".py", *DATA}
    others = {
        name: text
        for name, text in sorted(project.files.items())
        if name != ENTRY and PurePosixPath(name).suffix in suffixes
    }
    try:
        params = read(program_from_text(project.files[ENTRY], name=ENTRY, others=others)).hyperparameters
    except UnreadableProgram:
        return
    for param in params:
        value, concept = param.in_force, CONCEPTS.get(param.kind)
        plain = isinstance(value, bool | int | float | str)
        if concept is None or param.absent or not plain or param.role == "output":
            continue
        file = str(param.place.file)
        yield Setting(concept, value, line_at(file, project.files[file], param.place.line), given=True)  # type: ignore[arg-type]
