"""What came of a bug report: the verdict, its evidence, and every attempt on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import ClassVar, TypedDict

from pydantic import BaseModel, ConfigDict, Field

from reenact.bug.classify import RunOutcome, SeedRun
from reenact.bug.report import BugReport, symptom_words
from reenact.bug.symptom import Symptom
from reenact.codegen.project import Problem
from reenact.result import Result
from reenact.types import ExitCode


class Verdict(StrEnum):
    """What was found out."""

    REPRODUCED = "reproduced"
    """A script shows the symptom in project code, and nothing but the bug explains it."""
    SHOWN = "shown, unconfirmed"
    """The symptom shows, but nothing yet distinguishes the bug from a mistake of the script."""
    NOT_REPRODUCED = "not reproduced"
    """Scripts exercised the project and the symptom did not show, or not only where the bug is."""
    INCOMPLETE = "the fix is not complete"
    """A script shows the symptom, and on the fixed revision the same call raises something else."""
    UNDECIDABLE = "cannot be decided here"
    """A run showed that this machine cannot tell: a device, or a compiled module, is not here."""
    INCONCLUSIVE = "inconclusive"
    """No script ran as it should, or nothing was run."""

    @property
    def exit_code(self) -> ExitCode:
        if self is Verdict.REPRODUCED:
            return ExitCode.OK
        if self is Verdict.NOT_REPRODUCED:
            return ExitCode.FOUND
        return ExitCode.INCONCLUSIVE


class Stage(StrEnum):
    """Where a script was stopped, in the order in which it passes them."""

    ANSWER = "answer"
    """No script came, or edits that fit nothing."""
    PARSE = "parse"
    STATIC = "static analysis"
    RELEVANCE = "relevance"
    EXECUTION = "execution"
    FIXED = "fixed revision"
    """It shows the symptom, but not the bug: on the fixed revision it does not pass."""
    CONTROL = "control runs"
    """It shows the symptom, but on revisions that we made, or watched closely, it does something
    else: the script makes what it shows.
    """


class CallForm(BaseModel):
    """One call and how it is written for the fixed revision."""

    call: str = Field(
        max_length=1000, description="The call just as it stands in the script, once."
    )
    fixed: str = Field(
        max_length=1000,
        description="The same call with the keywords that the fix adds.",
    )

    def words(self) -> str:
        return f"On the fixed revision `{self.call}` is called as `{self.fixed}`."


def on_fixed(script: str, forms: Sequence[CallForm], *, both: bool = False) -> str:
    """The script as the fixed revision runs it: for fixes that add a parameter. We choose the form
    by the revision, the script never does; the rest of it stays byte for byte the same. `both`:
    with both forms, the second one where `_FIXED` is true, for repro.py.
    """
    for form in forms:
        new = f"({form.fixed} if _FIXED else {form.call})" if both else form.fixed
        script = script.replace(form.call, new)
    return script


class ControlsJson(TypedDict):
    """Control runs for programs."""

    results: tuple[str, ...]
    doubt: str


@dataclass(frozen=True, slots=True)
class Controls:
    """What control runs of a script that shows the symptom came to."""

    results: tuple[str, ...] = ()
    """Each control and what it gave, in a few words."""
    doubt: str = ""
    """Why the controls cannot tell whether the project or the script shows the bug; empty where
    they do.
    """

    @property
    def sentence(self) -> str:
        return f"Controls: {', '.join(self.results)}."

    def json_fields(self) -> ControlsJson:
        """What programs get."""
        return {
            "results": self.results,
            "doubt": self.doubt,
        }


class AttemptJson(TypedDict):
    """An attempt for programs."""

    context: int
    number: int
    stopped_at: Stage | None
    objections: list[str]
    outcomes: list[RunOutcome]
    outcomes_fixed: list[RunOutcome]
    sample: int
    script: str
    runs: tuple[SeedRun, ...]
    fixed_runs: tuple[SeedRun, ...]
    controls: Controls | None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One script on the way."""

    context: int
    number: int
    script: str = ""
    stage: Stage | None = None
    """Where it was stopped; none when it shows the bug."""
    objections: tuple[Problem, ...] = ()
    runs: tuple[SeedRun, ...] = ()
    fixed_runs: tuple[SeedRun, ...] = ()
    sample: int = 0
    forms: tuple[CallForm, ...] = ()
    """Calls that are written otherwise for the fixed revision."""
    not_here: str = ""
    """Why the model finds that this bug is not here; ends the search."""
    beyond: str = ""
    """Why this machine cannot decide it, as its runs show; ends the search."""
    learned: Symptom | None = None
    """What it shows, where that is another exception than was expected: the fix reports, or the model
    found so after it was raised.
    """
    claimed: bool = False
    """The report spells another message than the one that was raised; that it is the reported bug
    is what the model says.
    """
    controls: Controls | None = None
    """None where it did not come to control runs."""

    def stopped(self, *objections: Problem) -> Attempt:
        """With these objections; none of them means that it shows the bug."""
        stage = Stage(objections[0].where) if objections else None
        return replace(self, stage=stage, objections=objections)

    @property
    def shows(self) -> bool:
        return self.stage is None

    @property
    def is_final(self) -> bool:
        """Whether nothing more is asked after it, though it does not show the bug."""
        return bool(self.not_here or self.beyond)

    @property
    def reasons(self) -> list[str]:
        """The objections, in words."""
        return [str(objection) for objection in self.objections]

    @property
    def outcomes(self) -> list[RunOutcome]:
        return [run.outcome for run in self.runs]

    @property
    def other_failure(self) -> SeedRun | None:
        """Its first run, where all end alike with another exception of the project that is not
        refusal of the project's own: two revisions may refuse different input.
        """
        if not self.runs:
            return None
        first = self.runs[0]
        seen = self.runs[0].observation
        if self.repeats(RunOutcome.PROJECT) and not (
            seen.refused and seen.frames[-1].whose == "project"
        ):
            return first
        return None

    def repeats(self, outcome: RunOutcome) -> bool:
        """Whether all its runs crashed alike, with this meaning."""
        return all(one.outcome is outcome and one.crashed_like(self.runs[0]) for one in self.runs)

    @property
    def outcomes_fixed(self) -> list[RunOutcome]:
        return [run.outcome for run in self.fixed_runs]

    @property
    def outcome(self) -> RunOutcome | None:
        """What most of its runs ended with; none when it was not run."""
        counted = Counter(self.outcomes)
        if counted:
            return counted.most_common(1)[0][0]
        return None

    def json_fields(self) -> AttemptJson:
        """What programs get."""
        return {
            "context": self.context,
            "number": self.number,
            "stopped_at": self.stage,
            "objections": self.reasons,
            "outcomes": self.outcomes,
            "outcomes_fixed": self.outcomes_fixed,
            "sample": self.sample,
            "script": self.script,
            "runs": self.runs,
            "fixed_runs": self.fixed_runs,
            "controls": self.controls,
        }


class MinimisedJson(TypedDict):
    """A shortened script for programs, without its text."""

    lines_before: int
    lines_after: int
    runs: int
    note: str


@dataclass(frozen=True, slots=True)
class Minimised:
    """What came of making the script shorter."""

    script: str
    lines_before: int
    lines_after: int
    runs: int
    note: str = ""

    def json_fields(self) -> MinimisedJson:
        """What programs get."""
        return {
            "lines_before": self.lines_before,
            "lines_after": self.lines_after,
            "runs": self.runs,
            "note": self.note,
        }


@dataclass(frozen=True, slots=True)
class SuspectedCause:
    """The lines that are suspected to cause a bug."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    how: str
    """How they were found, in a sentence."""
    lines: tuple[str, ...]
    """`file:line: what is there`, in the revision with the bug."""
    diff: str = ""
    """The change that makes the bug go away; empty where only slices were compared."""


@dataclass(frozen=True, slots=True)
class ProposedPatch:
    """A patch that a model proposes."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    diff: str = ""
    """Empty where none passed."""
    why: str = ""
    """Why the bug goes away, in the model's words."""
    tests: str = ""
    """What the project's own tests did with it."""
    why_not: str = ""
    """Why there is none."""


class ReproductionJson(TypedDict):
    """The whole answer for programs."""

    verdict: Verdict
    reason: str
    title: str
    report: str
    repository: str
    commit: str
    fixed: str
    symptom: Symptom | None
    must_be_seen: str
    restructured: BugReport | None
    seeds_shown: int
    seeds_run: int
    script: str
    repro: str
    test: str
    reply: str
    exits: Mapping[str, int]
    brought_by: str
    cause: SuspectedCause | None
    patch: ProposedPatch | None
    minimised: Minimised | None
    attempts: tuple[Attempt, ...]
    contexts: tuple[str, ...]
    packages: tuple[str, ...]
    written: tuple[str, ...]
    folder: Path | None
    findings: tuple[str, ...]
    notes: tuple[str, ...]
    tokens: int
    money: Decimal | None
    seconds: float
    model_s: float
    waited_s: float
    own_s: float
    run: str


@dataclass(frozen=True, repr=False)
class Reproduction(Result):
    """The whole answer."""

    title: str
    source: str
    repository: str
    commit: str
    fixed: str
    """The fixed commit; empty when none was given."""
    verdict: Verdict
    reason: str
    symptom: Symptom | None
    """None where no model was asked for it."""
    report: BugReport | None
    attempts: tuple[Attempt, ...]
    contexts: tuple[str, ...]
    """Name and reason of each context that was tried."""
    packages: tuple[str, ...]
    minimised: Minimised | None = None
    repro: str = ""
    """repro.py, the plain script; empty where nothing was shown."""
    facts: str = ""
    """repro.json, by which it is judged."""
    test: str = ""
    """The same as a test; empty where none is handed over."""
    reply: str = ""
    """Words to the reporter where nothing was shown."""
    words: str = ""
    """The report's own words."""
    exits: Mapping[str, int] = field(default_factory=dict)
    """What `reenact judge repro.py` says, by revision (`buggy`, `fixed`): 1 shows, 0 does not, 125
    cannot be run.
    """
    brought_by: str = ""
    """Which commit brought it, as a sentence, where that was asked for."""
    cause: SuspectedCause | None = None
    """The lines that are suspected, where a script shows the bug."""
    patch: ProposedPatch | None = None
    """What a model proposes, where that was asked for."""
    findings: tuple[str, ...] = ()
    """What a diagnosis of the project's training programs says, each in a sentence."""
    folder: Path | None = None
    written: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    tokens: int = 0
    money: Decimal | None = None
    """US dollars; none when a price is not known."""
    seconds: float = 0.0
    model_s: float = 0.0
    """Of these, waiting for answers of the model."""
    requests: int = 0
    """Questions to the model."""
    waited_s: float = 0.0
    """Of these, boxes that had no processor: a busy machine."""
    run_id: str = ""
    reused: str = ""
    """What was not made by this execution, in a line; empty for nothing."""

    def in_a_line(self) -> str:
        return f"{self.title}: {self.verdict}"

    @property
    def own_s(self) -> float:
        """Seconds of our own work."""
        return max(0.0, self.seconds - self.model_s - self.waited_s)

    @property
    def showing(self) -> Attempt | None:
        """The attempt that shows the bug."""
        return next((one for one in self.attempts if one.shows), None)

    @property
    def script(self) -> str:
        """The script that shows the bug, as short as it was made; empty when there is none."""
        if self.minimised is not None:
            return self.minimised.script
        if self.showing is not None:
            return self.showing.script
        return ""

    @property
    def shown(self) -> SeedRun | None:
        """The first run in which the symptom was seen."""
        return next((run for run in self._runs if run.shows), None)

    @property
    def _runs(self) -> tuple[SeedRun, ...]:
        if self.showing is not None:
            return self.showing.runs
        return ()

    @property
    def seeds_run(self) -> int:
        return len(self._runs)

    @property
    def seeds_shown(self) -> int:
        return sum(run.shows for run in self._runs)

    @property
    def place(self) -> str:
        """The innermost line of the project in what was raised: an address where the repository
        has one, else file and line; empty where nothing was raised.
        """
        frames = self.shown.observation.project_frames if self.shown is not None else ()
        if not frames:
            return ""
        file, line = frames[-1].file, frames[-1].line
        if not self.repository.startswith("https://") or not self.commit:
            return f"{file}:{line}"
        return f"{self.repository.removesuffix('.git')}/blob/{self.commit}/{file}#L{line}"

    @property
    def must_be_seen(self) -> str:
        """The symptom in words."""
        return symptom_words(self.symptom) if self.symptom is not None else ""

    @property
    def sentence(self) -> str:
        """The one line to read."""
        return f"{self.verdict.value[:1].upper()}{self.verdict.value[1:]}: {self.reason}."

    def json_fields(self) -> ReproductionJson:
        """What programs get."""
        return {
            "verdict": self.verdict,
            "reason": self.reason,
            "title": self.title,
            "report": self.source,
            "repository": self.repository,
            "commit": self.commit,
            "fixed": self.fixed,
            "symptom": self.symptom,
            "must_be_seen": self.must_be_seen,
            "restructured": self.report,
            "seeds_shown": self.seeds_shown,
            "seeds_run": self.seeds_run,
            "script": self.script,
            "repro": self.repro,
            "test": self.test,
            "reply": self.reply,
            "exits": self.exits,
            "brought_by": self.brought_by,
            "cause": self.cause,
            "patch": self.patch,
            "minimised": self.minimised,
            "attempts": self.attempts,
            "contexts": self.contexts,
            "packages": self.packages,
            "written": self.written,
            "folder": self.folder,
            "findings": self.findings,
            "notes": self.notes,
            "tokens": self.tokens,
            "money": self.money,
            "seconds": round(self.seconds, 1),
            "model_s": round(self.model_s, 1),
            "waited_s": round(self.waited_s, 1),
            "own_s": round(self.own_s, 1),
            "run": self.run_id,
        }
