"""Programs that crash behind their training, at a plot or a prediction: what was trained counts all the same.

The exception of the program as it stands must lie behind every training step, and a changed program must end
in the same way at the same line: then both have trained to the end.
"""

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from reenact.probe.outcome import Crash, OutcomeKind
from reenact.program.program import CODE, Program
from reenact.program.read.index import FileIndex, index_of
from reenact.program.source import word_set
from reenact.trials.trial import Outcome

TRAINS = word_set("fit fit_generator train_on_batch step backward minimize apply_gradients")
"""Calls that train, by their last name."""
IN_LIBRARIES = TRAINS | {"train", "training_step"}
UNFINISHED = (OutcomeKind.TIMEOUT, OutcomeKind.KILLED, OutcomeKind.INTERRUPTED)


def behind_training(program: Program, crash: Crash | None, steps: int) -> Crash | None:
    """The exception, where it was raised after the last training step: in no call that trains, and in no loop
    that does. None else."""
    if crash is None or crash.place is None or not steps:
        return None
    training = _training_names(program)
    for file, line, name in (*_frames(crash), (str(crash.place.file), crash.place.line, "")):
        index = _index(program, file)
        if index is None and name in IN_LIBRARIES:
            return None
        if index is not None and any(_holds(loop, line, training) for loop in index.loops):
            return None
    return crash


def as_trained(outcome: Outcome, ending: Crash | None) -> Outcome:
    """The outcome as one that finished, where it ended as the program as it stands does behind its
    training."""
    crash = outcome.crash
    if ending is None or crash is None or not outcome.steps or outcome.kind in UNFINISHED:
        return outcome
    here, there = crash.place, ending.place
    same_file = here is not None and there is not None and here.file == there.file
    same_line = crash.source == ending.source or here == there
    same = same_file and same_line and crash.type == ending.type
    return replace(outcome, kind=OutcomeKind.FINISHED) if same else outcome


def _training_names(program: Program) -> frozenset[str]:
    """Names of calls that train: those of the libraries, and the program's own functions around them."""
    bodies = [
        (scope.name, _called(scope.node))
        for file in program.files
        if file.language in CODE and isinstance(index := index_of(file), FileIndex)
        for scope in index.functions
    ]
    names = set(TRAINS)
    while more := {name for name, called in bodies if name and called & names} - names:
        names |= more
    return frozenset(names)


def _called(node: ast.AST) -> set[str]:
    called = (part.func for part in ast.walk(node) if isinstance(part, ast.Call))
    return {func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "") for func in called}


def _holds(loop: ast.For | ast.AsyncFor | ast.While, line: int, training: frozenset[str]) -> bool:
    """Whether the line lies in this loop, and the loop trains."""
    return loop.lineno <= line <= (loop.end_lineno or loop.lineno) and bool(_called(loop) & training)


def _frames(crash: Crash) -> Iterator[tuple[str, int, str]]:
    for frame in crash.frames:
        place, _, name = frame.rpartition(" in ")
        file, _, line = place.rpartition(":")
        if line.isdecimal():
            yield file, int(line), name


def _index(program: Program, name: str) -> FileIndex | None:
    """The index of a file of the program, by its path below the folder or from the root."""
    path = Path(name)
    inside = path.relative_to(program.folder) if path.is_relative_to(program.folder) else path
    file = program.file(inside.as_posix())
    index = index_of(file) if file is not None and file.language in CODE else ""
    return index if isinstance(index, FileIndex) else None
