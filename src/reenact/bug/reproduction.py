"""What came of a bug report: the verdict, its evidence, and every attempt on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from pathlib import Path

from reenact.bug.report import BugReport, symptom_words
from reenact.bug.run.classify import Classification, RunOutcome
from reenact.bug.run.observation import RunObservation
from reenact.bug.symptom import Symptom
from reenact.bug.validate.stage import Stage
from reenact.codegen.problem import Problem
from reenact.types import ExitCode, JsonValue


class Verdict(StrEnum):
    """What was found out."""

    REPRODUCED = "reproduced"
    """A script shows the symptom in project code, and nothing but the bug explains it."""
    SHOWN = "shown, unconfirmed"
    """The symptom shows, but nothing yet tells the bug from a mistake of the script."""
    NOT_REPRODUCED = "not reproduced"
    """Scripts exercised the project and the symptom did not show, or not only where the bug is."""
    INCONCLUSIVE = "inconclusive"
    """No script ran as it should, or nothing was run."""

    @property
    def exit_code(self) -> ExitCode:
        if self is Verdict.REPRODUCED:
            return ExitCode.OK
        return ExitCode.FOUND if self is Verdict.NOT_REPRODUCED else ExitCode.INCONCLUSIVE


@dataclass(frozen=True, slots=True)
class SeedRun:
    """One run of a script with one seed."""

    seed: int
    sighting: RunObservation
    seen: Classification

    @property
    def shows(self) -> bool:
        return self.seen.outcome is RunOutcome.SYMPTOM


@dataclass(frozen=True, slots=True)
class Attempt:
    """One script on the way."""

    context: int
    number: int
    script: str
    stage: Stage | None
    """Where it was stopped; none when it shows the bug."""
    objections: tuple[Problem, ...] = ()
    runs: tuple[SeedRun, ...] = ()
    fixed_runs: tuple[SeedRun, ...] = ()
    sample: int = 0

    @property
    def shows(self) -> bool:
        return self.stage is None

    @property
    def outcome(self) -> RunOutcome | None:
        """What most of its runs ended with; none when it was not run."""
        counted = Counter(run.seen.outcome for run in self.runs)
        return counted.most_common(1)[0][0] if counted else None


@dataclass(frozen=True, slots=True)
class Minimised:
    """What came of making the script shorter."""

    script: str
    lines_before: int
    lines_after: int
    runs: int
    note: str = ""


@dataclass(frozen=True)
class Reproduction:
    """The whole answer."""

    title: str
    source: str
    repository: str
    commit: str
    fixed: str
    """The fixed commit; empty when none was given."""
    verdict: Verdict
    reason: str
    symptom: Symptom
    report: BugReport | None
    attempts: tuple[Attempt, ...]
    contexts: tuple[str, ...]
    """Name and reason of each context that was tried."""
    packages: tuple[str, ...]
    minimised: Minimised | None = None
    repro: str = ""
    """repro.py, the script with its judge; empty where nothing was shown."""
    exits: Mapping[str, int] = field(default_factory=dict)
    """What repro.py exited with when it was proven, by revision: `buggy`, `fixed`."""
    findings: tuple[str, ...] = ()
    """What a diagnosis of the project's training programs says, each in a sentence."""
    folder: Path | None = None
    written: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    tokens: int = 0
    money: Decimal | None = None
    """US dollars; none when a price is not known."""
    seconds: float = 0.0
    run_id: str = ""
    reused: str = ""
    """What was not made by this execution, in a line; empty for nothing."""

    @property
    def showing(self) -> Attempt | None:
        """The attempt that shows the bug."""
        return next((one for one in self.attempts if one.shows), None)

    @property
    def script(self) -> str:
        """The script that shows the bug, as short as it was made; empty when there is none."""
        if self.minimised is not None:
            return self.minimised.script
        return self.showing.script if self.showing is not None else ""

    @property
    def seeds(self) -> tuple[int, int]:
        """In how many of how many runs the symptom was seen."""
        runs = self.showing.runs if self.showing is not None else ()
        return sum(run.shows for run in runs), len(runs)

    def to_json(self) -> dict[str, JsonValue]:
        """Everything, for machines."""
        shown, runs = self.seeds
        return {
            "verdict": self.verdict.value,
            "reason": self.reason,
            "title": self.title,
            "report": self.source,
            "repository": self.repository,
            "commit": self.commit,
            "fixed": self.fixed,
            "symptom": self.symptom.model_dump(mode="json"),
            "must_be_seen": symptom_words(self.symptom),
            "restructured": self.report.model_dump(mode="json") if self.report is not None else None,
            "seeds_shown": shown,
            "seeds_run": runs,
            "script": self.script,
            "repro": self.repro,
            "exits": dict(self.exits),
            "minimised": None
            if self.minimised is None
            else {
                "lines_before": self.minimised.lines_before,
                "lines_after": self.minimised.lines_after,
                "runs": self.minimised.runs,
                "note": self.minimised.note,
            },
            "attempts": [_attempt_json(one) for one in self.attempts],
            "contexts": list(self.contexts),
            "packages": list(self.packages),
            "written": list(self.written),
            "folder": str(self.folder) if self.folder is not None else None,
            "findings": list(self.findings),
            "notes": list(self.notes),
            "tokens": self.tokens,
            "money": None if self.money is None else str(self.money),
            "seconds": round(self.seconds, 1),
            "run": self.run_id,
        }


def _attempt_json(one: Attempt) -> dict[str, JsonValue]:
    return {
        "context": one.context,
        "number": one.number,
        "stopped_at": one.stage.value if one.stage is not None else None,
        "objections": [str(objection) for objection in one.objections],
        "outcomes": [run.seen.outcome.value for run in one.runs],
        "outcomes_fixed": [run.seen.outcome.value for run in one.fixed_runs],
        "sample": one.sample,
        "script": one.script,
        "runs": [_run_json(run) for run in one.runs],
        "fixed_runs": [_run_json(run) for run in one.fixed_runs],
    }


def _run_json(run: SeedRun) -> dict[str, JsonValue]:
    told = run.sighting
    return {
        "seed": run.seed,
        "outcome": run.seen.outcome.value,
        "sentence": run.seen.sentence,
        "exception": told.classes[0] if told.classes else "",
        "message": told.message,
        "frames": [
            {"whose": frame.whose, "file": frame.file, "line": frame.line, "function": frame.qualified}
            for frame in told.frames
        ],
        "output": told.output,
        "seconds": told.wall_s,
        "versions": dict(told.versions),
    }
