"""What a run means: the symptom in project frames, another failure and whose, nothing, or no run at all."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath

from reenact.bug.project.files import ProjectFiles
from reenact.bug.script_runner import Frame, RunObservation
from reenact.bug.symptom import Explicit, Relation, Symptom
from reenact.sandbox.box import Ending


class RunOutcome(StrEnum):
    """What became of one run."""

    SYMPTOM = "symptom"
    """What was reported, in project code or of a value of the project."""
    PROJECT = "another failure of the project"
    """An exception out of project code that is not the reported one."""
    SCRIPT = "the script's own mistake"
    """The innermost frame that is not a library's is the script's."""
    ENVIRONMENT = "the environment"
    """Something is not installed, or the network was wanted."""
    NOTHING = "no failure"
    """It ran through, and what shows the bug was not there."""
    NO_RUN = "could not run"
    """A limit was crossed, or the watcher could not say anything."""

    @property
    def is_final(self) -> bool:
        """Whether other seeds would end the same way."""
        return self in (RunOutcome.SCRIPT, RunOutcome.ENVIRONMENT, RunOutcome.NO_RUN)


@dataclass(frozen=True, slots=True)
class Classification:
    """An outcome and why it is that one."""

    outcome: RunOutcome
    sentence: str
    deliberate: bool = False
    """The project raises this exception on purpose: it may be a refusal of wrong input, and no bug."""
    outside: bool = False
    """A library raises it, called by the script with what the project gave, as in `loss.backward()`."""


def classify(
    seen: RunObservation,
    symptom: Symptom,
    functions: Sequence[str],
    files: ProjectFiles,
    lines: frozenset[int] = frozenset(),
) -> Classification:
    """The meaning of a run. `functions` are those that the report's own traceback names, `lines` those
    of the script that use what came out of the project."""
    if not seen.ended:
        return _without_word(seen, symptom)
    if seen.ended == "raised":
        return _raised(seen, symptom, functions, files, lines)
    if seen.ended == "exited":
        return Classification(
            RunOutcome.SCRIPT, f"The process was ended by exit({seen.message}) instead of running through."
        )
    if not symptom.is_silent:
        return Classification(RunOutcome.NOTHING, "The script ran through; no exception came out of it.")
    if seen.problem:
        return Classification(RunOutcome.SCRIPT, f"The closing check: {seen.problem}.")
    return Classification(RunOutcome.SYMPTOM if seen.holds else RunOutcome.NOTHING, seen.saw)


def _without_word(seen: RunObservation, symptom: Symptom) -> Classification:
    relation = symptom.check.relation if symptom.check is not None and symptom.is_silent else None
    if seen.ending is Ending.TIMEOUT and relation is Relation.SLOWER:
        return Classification(RunOutcome.SYMPTOM, f"It did not end: {seen.why}.")
    if seen.ending is Ending.MEMORY_LIMIT and relation is Relation.MEMORY:
        return Classification(RunOutcome.SYMPTOM, f"It needed too much memory: {seen.why}.")
    sentence = "The process ended itself before the watcher could look at the outcome."
    if seen.ending not in (Ending.OK, Ending.EXIT):
        network = " It wanted the network, which is not there." if seen.network else ""
        sentence = f"The run was ended: {seen.ending}. {seen.why}.{network}".replace("..", ".")
    return Classification(RunOutcome.NO_RUN, sentence)


def _raised(
    seen: RunObservation,
    symptom: Symptom,
    functions: Sequence[str],
    files: ProjectFiles,
    lines: frozenset[int],
) -> Classification:
    what = f"{seen.classes[0] if seen.classes else 'an exception'}: {seen.message[:600]}"
    last = next((frame for frame in reversed(seen.frames) if frame.whose != "library"), None)
    at = f" ({last})" if last is not None else ""
    network = " It wanted the network, which is not there." if seen.network else ""
    reported = symptom.explicit if not symptom.is_silent else None
    through = {frame.function for frame in seen.project_frames}
    outcome = RunOutcome.PROJECT
    if seen.missing and seen.missing.partition(".")[0] not in files.packages:
        outcome, sentence = RunOutcome.ENVIRONMENT, f"The module {seen.missing} is not installed{at}."
    elif _is_outside(seen, reported, last, lines):
        return Classification(RunOutcome.SYMPTOM, f"{what}{at}", outside=True)
    elif seen.blamed == "script":
        outcome = RunOutcome.SCRIPT
        sentence = f"The script itself failed, not the project: {what}{at}.{network}"
    elif seen.blamed != "project":
        outcome, sentence = RunOutcome.NO_RUN, f"It failed outside script and project: {what}."
    elif reported is None:
        sentence = f"The project raised before anything could be observed: {what}{at}."
    elif not reported.fits(seen.classes, seen.message):
        wanted = f"{reported.name}: {reported.message or '*'}"
        sentence = f"The project raised {what}{at}; to be shown was {wanted}.{network}"
    elif functions and not through & set(functions):
        sentence = f"The project raised {what}{at}, but not through {', '.join(functions)} as reported."
    else:
        deliberate = _is_deliberate(seen.frames[-1], files)
        return Classification(RunOutcome.SYMPTOM, f"{what}{at}", deliberate=deliberate)
    return Classification(outcome, sentence)


def _is_outside(
    seen: RunObservation, reported: Explicit | None, last: Frame | None, lines: frozenset[int]
) -> bool:
    """Whether a library raised what was reported while the script handed it something of the project."""
    if reported is None or last is None or seen.blamed != "script" or seen.frames[-1].whose != "library":
        return False
    return last.line in lines and reported.fits(seen.classes, seen.message)


def _is_deliberate(innermost: Frame, files: ProjectFiles) -> bool:
    """Whether the innermost line is a `raise` or `assert` of the project."""
    if innermost.whose != "project":
        return False
    path = PurePosixPath(innermost.file)
    return path in files.texts and any(
        isinstance(node, ast.Raise | ast.Assert) and node.lineno <= innermost.line <= (node.end_lineno or 0)
        for node in files.nodes(path)
    )
