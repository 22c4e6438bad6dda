"""Programs that crash after their training, at a plot or a prediction: what was trained counts all
the same.

The exception of the unchanged program must lie after every training step, and a changed program
must end in the same way at the same line: then both have trained to the end.
"""

import ast
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from reenact.probe.crash import Crash
from reenact.probe.outcome import OutcomeKind
from reenact.program.flow.sources import Sources
from reenact.program.program import Program
from reenact.program.syntax.scope import FileIndex
from reenact.trials.trial import Outcome

TRAINS = frozenset(
    {
        "fit",
        "fit_generator",
        "train_on_batch",
        "step",
        "backward",
        "minimize",
        "apply_gradients",
    }
)
"""Calls that train, by their last name."""
IN_LIBRARIES = TRAINS | {"train", "training_step"}
UNFINISHED = (OutcomeKind.TIMEOUT, OutcomeKind.KILLED, OutcomeKind.INTERRUPTED)
_FRAME = re.compile(r"(.*):(\d+) in (.*)")


def behind_training(
    program: Program,
    crash: Crash | None,
    steps: int,
) -> Crash | None:
    """The exception, where it was raised after the last training step: in no call that trains, and
    in no loop that does. None else.
    """
    if crash is None or crash.place is None or not steps:
        return None
    indexes = Sources(program).indexes
    training = _training_names(indexes.values())
    frames = [
        (
            found[1],
            int(found[2]),
            found[3],
        )
        for found in map(_FRAME.fullmatch, crash.frames)
        if found
    ]
    for file, line, name in (
        *frames,
        (str(crash.place.file), crash.place.line, ""),
    ):
        path = Path(file)
        inside = path.relative_to(program.folder) if path.is_relative_to(program.folder) else path
        index = indexes.get(inside.as_posix())
        if index is None and name in IN_LIBRARIES:
            return None
        for loop in index.loops if index is not None else ():
            if (
                line in range(loop.lineno, (loop.end_lineno or loop.lineno) + 1)
                and _called(loop) & training
            ):
                return None
    return crash


def as_trained(outcome: Outcome, ending: Crash | None) -> Outcome:
    """The outcome as one that finished, where it ended as the unchanged program does after its
    training."""
    crash = outcome.crash
    if ending is None or crash is None or not outcome.steps or outcome.kind in UNFINISHED:
        return outcome
    here = crash.place
    there = ending.place
    same_file = here is not None and there is not None and here.file == there.file
    same_line = crash.source == ending.source or here == there
    same = same_file and same_line and crash.type == ending.type
    return replace(outcome, kind=OutcomeKind.FINISHED) if same else outcome


def _training_names(indexes: Iterable[FileIndex]) -> frozenset[str]:
    """Names of calls that train: those of the libraries, and the program's own functions around
    them.
    """
    bodies = [(scope.name, _called(scope.node)) for index in indexes for scope in index.functions]
    names = set(TRAINS)
    while more := {name for name, called in bodies if name and called & names} - names:
        names |= more
    return frozenset(names)


def _called(node: ast.AST) -> set[str]:
    called = (part.func for part in ast.walk(node) if isinstance(part, ast.Call))
    return {
        func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "") for func in called
    }
