"""What a run means: the symptom in project frames, another failure and whose, nothing, or no
run at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypedDict

from reenact.bug.crash import VARYING, Likeness, ReportedCrash, likeness
from reenact.bug.project_files import ProjectFiles
from reenact.bug.script_runner import Frame, RunObservation
from reenact.bug.symptom import TOO_GENERAL, Explicit, Symptom
from reenact.claims.check import Relation
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


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception as it was seen, without what varies from machine to machine: numbers,
    addresses, paths.
    """

    exception: str
    fragments: tuple[str, ...]
    """What stays of the message, in its order."""
    function: str
    """The innermost function of the project; empty where none took part."""
    phase: str
    """`import` while a file of the project was imported, else `call`."""


_LONGEST = 600
"""Characters of a message that are compared."""


def failure_of(seen: RunObservation) -> Failure | None:
    """The failure that a run ended with; none where it ran through."""
    if seen.ended != "raised" or not seen.classes:
        return None
    pieces = (" ".join(part.split()).lower() for part in VARYING.split(seen.message[:_LONGEST]))
    own = [frame.function for frame in seen.project_frames]
    phase = "import" if "<module>" in own else "call"
    return Failure(
        seen.classes[0],
        tuple(one for one in pieces if one),
        own[-1] if own else "",
        phase,
    )


class SeedRunJson(TypedDict):
    """A run of a script for programs."""

    seed: int
    outcome: RunOutcome
    sentence: str
    exception: str
    message: str
    frames: tuple[Frame, ...]
    output: str
    seconds: float
    versions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SeedRun:
    """One run of a script with one seed: what was observed, what that means and why."""

    seed: int
    observation: RunObservation
    outcome: RunOutcome
    sentence: str
    deliberate: bool = False
    """Project or library raises this exception on purpose: perhaps a refusal of wrong input,
    and no bug.
    """
    outside: bool = False
    """A library raises it, called by the script with what the project gave, as in
    `loss.backward()`.
    """
    otherwise: bool = False
    """It was raised where the report says, as that class, and its message says something else."""

    @property
    def shows(self) -> bool:
        return self.outcome is RunOutcome.SYMPTOM

    @property
    def failure(self) -> Failure | None:
        return failure_of(self.observation)

    def crashed_like(self, other: SeedRun) -> bool:
        """Whether both ended with the same class, message and line: chance has no part in it."""
        one = self.observation
        two = other.observation
        alike = (one.classes, one.message, one.last) == (
            two.classes,
            two.message,
            two.last,
        )
        return one.ended == two.ended == "raised" and alike

    @property
    def exception(self) -> str:
        """Its class; empty where none was raised."""
        if self.observation.classes:
            return self.observation.classes[0]
        return ""

    def json_fields(self) -> SeedRunJson:
        """What programs get."""
        return {
            "seed": self.seed,
            "outcome": self.outcome,
            "sentence": self.sentence,
            "exception": self.exception,
            "message": self.observation.message,
            "frames": self.observation.frames,
            "output": self.observation.output,
            "seconds": self.observation.wall_s,
            "versions": self.observation.versions,
        }


def classified(
    seed: int,
    seen: RunObservation,
    symptom: Symptom,
    functions: Sequence[str],
    files: ProjectFiles,
    lines: frozenset[int] = frozenset(),
    crashes: Sequence[ReportedCrash] = (),
) -> SeedRun:
    """The meaning of a run. `functions` are those that the report's own traceback names, `lines`
    those of the script that use what came out of the project, `crashes` what the tracebacks of the
    report show.
    """
    deliberate = False
    outside = False
    otherwise = False
    if not seen.ended:
        outcome, sentence = _without_word(seen, symptom)
    elif seen.noticed:
        outcome = RunOutcome.SCRIPT
        sentence = f"The script does what a script that shows a bug may not: {seen.noticed}."
    elif seen.ended == "raised":
        reported = symptom.raised
        by_library = (
            bool(seen.frames) and seen.blamed == "script" and seen.frames[-1].whose == "library"
        )
        used = seen.last is not None and seen.last.line in lines and not seen.missing
        like = Likeness.OTHER
        if reported is not None:
            like = likeness(reported, crashes, seen, files)
        outside = by_library and used and like is Likeness.SAME
        otherwise = like is Likeness.PLACE
        outcome, sentence = _raised(seen, symptom, functions, files, like, outside=outside)
        deliberate = outcome is RunOutcome.SYMPTOM and not outside and seen.refused
    elif seen.ended == "exited":
        outcome = RunOutcome.SCRIPT
        sentence = f"The process was ended by exit({seen.message}) instead of running through."
    elif not symptom.is_silent:
        outcome = RunOutcome.NOTHING
        sentence = "The script ran through; no exception came out of it."
    elif seen.problem:
        outcome = RunOutcome.SCRIPT
        sentence = f"The closing check: {seen.problem}."
    else:
        outcome = RunOutcome.SYMPTOM if seen.holds else RunOutcome.NOTHING
        sentence = seen.saw
    return SeedRun(
        seed,
        observation=seen,
        outcome=outcome,
        sentence=sentence,
        deliberate=deliberate,
        outside=outside,
        otherwise=otherwise,
    )


def symptom_of(run: SeedRun) -> Symptom | None:
    """The failure of a run as a symptom to look for; none where it says too little."""
    seen = run.failure
    if seen is None or seen.exception in TOO_GENERAL:
        return None
    explicit = Explicit(
        exception=seen.exception,
        message=" * ".join(seen.fragments)[:400],
    )
    return Symptom(
        kind="explicit",
        sign="crash",
        words=run.sentence[:1000],
        explicit=explicit,
    )


def _without_word(seen: RunObservation, symptom: Symptom) -> tuple[RunOutcome, str]:
    relation = None
    if symptom.closing is not None:
        relation = symptom.closing.relation
    if (seen.ending, relation) == (Ending.TIMEOUT, Relation.SLOWER):
        return RunOutcome.SYMPTOM, f"It did not end: {seen.why}."
    if (seen.ending, relation) == (Ending.MEMORY_LIMIT, Relation.MEMORY):
        return RunOutcome.SYMPTOM, f"It needed too much memory: {seen.why}."
    if seen.ending in (Ending.OK, Ending.EXIT):
        return (
            RunOutcome.NO_RUN,
            "The process ended itself before the watcher could look at the outcome.",
        )
    if not seen.was_run:
        return RunOutcome.NO_RUN, f"It could not run: {seen.why}."
    sentence = f"The run was ended: {seen.ending}. {seen.why}.{_network(seen)}"
    return RunOutcome.NO_RUN, sentence.replace("..", ".")


def _raised(
    seen: RunObservation,
    symptom: Symptom,
    functions: Sequence[str],
    files: ProjectFiles,
    like: Likeness,
    *,
    outside: bool,
) -> tuple[RunOutcome, str]:
    at = ""
    if seen.last is not None:
        at = f" ({seen.last})"
    what = f"{seen.classes[0] if seen.classes else 'an exception'}: {seen.message[:600]}"
    reported = symptom.raised
    through = {frame.function for frame in seen.project_frames}
    absent = seen.missing.partition(".")[0]
    if absent and absent not in files.packages and absent.lower() != symptom.absent_module.lower():
        return (
            RunOutcome.ENVIRONMENT,
            f"The module {seen.missing} is not installed{at}.",
        )
    if outside:
        return RunOutcome.SYMPTOM, f"{what}{at}"
    if seen.blamed == "script":
        return (
            RunOutcome.SCRIPT,
            f"The script itself failed, not the project: {what}{at}.{_network(seen)}",
        )
    if seen.blamed != "project":
        return RunOutcome.NO_RUN, f"It failed outside script and project: {what}."
    if reported is None:
        return (
            RunOutcome.PROJECT,
            f"The project raised before anything could be observed: {what}{at}.",
        )
    raised = f"The project raised {what}{at}"
    if like is Likeness.OTHER:
        wanted = f"{reported.name}: {reported.message or '*'}"
        return (
            RunOutcome.PROJECT,
            f"{raised}; to be shown was {wanted}.{_network(seen)}",
        )
    if functions and not through & set(functions):
        return (
            RunOutcome.PROJECT,
            f"{raised}, but not through {', '.join(functions)} as reported.",
        )
    return RunOutcome.SYMPTOM, f"{what}{at}"


def _network(seen: RunObservation) -> str:
    return " It wanted the network, which is not there." if seen.network else ""
