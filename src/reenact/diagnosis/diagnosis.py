"""What a diagnosis says: findings with what was tried, symptoms, and how it came about."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, TypedDict

from reenact.diagnosis.judgement import (
    Conclusion,
    Judgement,
    Shown,
    conclusion_of,
    counted,
    on_stand_in,
)
from reenact.diagnosis.options import Depth
from reenact.diagnosis.suspects import Suspect
from reenact.drawing import drawing
from reenact.errors import InputError, ReenactError
from reenact.faults.confidence import Word, word_of
from reenact.faults.evidence import Evidence
from reenact.faults.fault_type import FaultType
from reenact.faults.finding import Certainty, Finding, Suggestion
from reenact.program.graph import TaskType
from reenact.program.patch import Patch
from reenact.program.program import Program
from reenact.result import Result, rounded
from reenact.trials.budget import TrainingUsage
from reenact.trials.metric import Measure, choose_measure
from reenact.trials.statistics import Comparison
from reenact.types import ExitCode, JsonValue, Place


class InterventionResult(StrEnum):
    """What trying a suspect has shown."""

    UNTRIED = "untried"
    CONFIRMED = "confirmed"
    """Changing it, alone or with others that are needed too, makes the training significantly
    better.
    """
    RUNS_NOW = "runs-now"
    """Changing it makes a significant difference that is no improvement: a program that failed
    trains now, to a result no better than a constant answer, or a loss falls below what its formula
    can reach.
    """
    UNDECIDED = "undecided"
    """It was changed, and too little was seen to say: what was believed before stands."""
    REFUTED = "refuted"
    """Changing it was shown to make no difference that matters, where a difference could have
    been seen.
    """

    @classmethod
    def _missing_(cls, value: object) -> InterventionResult | None:
        """Earlier versions had a word of their own for what helped in a first look."""
        return cls.UNDECIDED if value == "helped" else None


class ChangeEffectJson(TypedDict):
    """A change and what it came to, as JSON."""

    patch: Patch
    metric: str
    larger_is_better: bool
    before: tuple[float, ...]
    after: tuple[float, ...]
    p_value: float | None
    confirmed: bool
    shortfall: str | None
    detectable_gain: float | None
    on_top_of: str | None
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class ChangeEffect:
    """What a change came to: trained over seeds with it and without it."""

    patch: Patch
    measure: Measure
    before: tuple[float, ...]
    after: tuple[float, ...]
    comparison: Comparison | None = None
    """None for a single seed."""
    p_value: float | None = None
    """Corrected for the number of changes that were verified; none where nothing was to be
    confirmed.
    """
    confirmed: bool = False
    cpu_seconds: float = 0.0
    on_top_of: str = ""
    """Changes that both trainings had; empty for none."""
    shortfall: str = ""
    """Why a significant difference is no improvement; empty where it is one, or not significant."""
    detectable: float | None = None
    """The smallest gain that would have been found four times out of five; none where nobody
    can say.
    """

    def json_fields(self) -> ChangeEffectJson:
        return {
            "patch": self.patch,
            "metric": self.measure.name,
            "larger_is_better": self.measure.larger_is_better,
            "before": self.before,
            "after": self.after,
            "p_value": self.p_value,
            "confirmed": self.confirmed,
            "shortfall": self.shortfall or None,
            "detectable_gain": self.detectable,
            "on_top_of": self.on_top_of or None,
            "cpu_seconds": rounded(self.cpu_seconds, 2),
        }


class DiagnosisFindingJson(TypedDict):
    """A finding of a diagnosis as JSON."""

    fault: FaultType | None
    fault_name: str | None
    layer: str | None
    layer_index: int | None
    certainty: Certainty
    word: Word
    score: float
    status: InterventionResult
    file: PurePosixPath | None
    line: int | None
    witnesses: tuple[Finding, ...]
    suggestions: tuple[Suggestion, ...]
    fix: str | None
    tried: ChangeEffect | None
    note: str | None


@dataclass(frozen=True, slots=True, repr=False)
class DiagnosisFinding(Result):
    """A suspect, what trying it has shown, and how sure we are now."""

    suspect: Suspect
    status: InterventionResult
    confidence: float
    tried: ChangeEffect | None = None
    """The change it was tried with, and what that came to."""
    note: str = ""
    fix: str = ""
    """That change, or the first that is suggested, as a unified diff; empty where there is none."""

    def json_fields(self) -> DiagnosisFindingJson:
        place = self.suspect.place
        return {
            "fault": self.suspect.fault,
            "fault_name": self.fault_name or None,
            "layer": self.suspect.layer or None,
            "layer_index": self.suspect.layer_index,
            "certainty": self.suspect.certainty,
            "word": self.word,
            "score": rounded(self.confidence, 3),
            "status": self.status,
            "file": place.file if place is not None else None,
            "line": self.line,
            "witnesses": self.suspect.witnesses,
            "suggestions": self.suspect.suggestions,
            "fix": self.fix or None,
            "tried": self.tried,
            "note": self.note or None,
        }

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: Any) -> Any:
        """How a journal gives it back."""
        from pydantic_core import core_schema

        return core_schema.no_info_before_validator_function(_under_its_name, handler(source))

    @property
    def word(self) -> Word:
        """How sure: proven, likely or possible."""
        return word_of(self.confidence)

    @property
    def code(self) -> str:
        """Of the detector that names it, such as RE010."""
        return self.suspect.headline.code

    @property
    def name(self) -> str:
        """Of that detector, such as gradients-not-cleared."""
        return self.suspect.headline.name

    @property
    def fault_name(self) -> str:
        """Of the fault, such as missing-zero-grad; empty where no detector of the list names it."""
        return self.suspect.headline.fault_name

    @property
    def file(self) -> str:
        """Relative to the program's folder; empty where it has no place in the source."""
        return str(self.suspect.place.file) if self.suspect.place is not None else ""

    @property
    def line(self) -> int | None:
        """Counted from 1; none where it has no place in the source."""
        return self.suspect.place.line if self.suspect.place is not None else None

    @property
    def message(self) -> str:
        """What was seen, and why that is wrong."""
        headline = self.suspect.headline
        return f"{headline.saw}. {headline.why}"

    def in_a_line(self) -> str:
        where = f" at {self.suspect.place}" if self.suspect.place is not None else ""
        return f"{self.code} {self.name}{where}"

    def __str__(self) -> str:
        return "\n".join(
            part for part in (f"{self.in_a_line()}: {self.message}", self.fix.rstrip()) if part
        )

    def with_fix(self, program: Program | None) -> DiagnosisFinding:
        """The same with its fix, for this program."""
        first = self.suspect.suggestions[0].patch if self.suspect.suggestions else None
        patch = self.tried.patch if self.tried is not None else first
        if patch is not None and program is not None:
            with suppress(ReenactError):
                return replace(self, fix=patch.diff(program))
        return self


def _under_its_name(stored: Any) -> Any:
    """Earlier versions stored the status under another name."""
    if not isinstance(stored, dict) or "standing" not in stored:
        return stored
    return {"status" if name == "standing" else name: value for name, value in stored.items()}


class DiagnosisJson(TypedDict):
    """A diagnosis as JSON."""

    judgement: Judgement
    sentence: str
    next: str | None
    depth: Depth
    threshold: float
    task: TaskType
    metric: str | None
    findings: tuple[DiagnosisFinding, ...]
    doubts: tuple[DiagnosisFinding, ...]
    symptoms: tuple[Finding, ...]
    seconds: float
    trainings: int
    stand_in_data: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Diagnosis(Result):
    """The answer."""

    depth: Depth
    evidence: Evidence
    findings: tuple[DiagnosisFinding, ...]
    """At or above the threshold, surest first."""
    low_confidence: tuple[DiagnosisFinding, ...]
    """Below it, among them what was refuted."""
    symptoms: tuple[Suspect, ...]
    """What is wrong to see but has several possible causes."""
    threshold: float
    spent: TrainingUsage
    measure: Measure | None = None
    notes: tuple[str, ...] = field(default=())
    """What could not be done, each in a sentence."""
    reused: str = ""
    """What was not made by this execution, in a line; empty for nothing."""
    concluded: Conclusion | None = None
    """As it was stored; none: it follows from the evidence."""

    def json_fields(self) -> DiagnosisJson:
        return {
            "judgement": self.judgement,
            "sentence": self.sentence,
            "next": self.next_command or None,
            "depth": self.depth,
            "threshold": self.threshold,
            "task": self.task,
            "metric": self.measure.name if self.measure is not None else None,
            "findings": self.findings,
            "doubts": self.low_confidence,
            "symptoms": self.seen,
            "seconds": rounded(self.spent.seconds, 2),
            "trainings": self.spent.trainings,
            "stand_in_data": self.stand_in_data,
            "notes": self.notes,
        }

    def to_store(self) -> Diagnosis:
        """The same with its conclusion: the journal does not keep program and trace."""
        return replace(self, concluded=self.conclusion)

    @cached_property
    def conclusion(self) -> Conclusion:
        """As it was stored, else as it follows from the evidence."""
        if self.concluded is not None:
            return self.concluded
        shown = Shown(
            evidence=self.evidence,
            depth=self.depth,
            threshold=self.threshold,
            symptoms=self.symptoms,
            findings=len(self.findings),
            confirmed=self.confirmed,
        )
        return conclusion_of(shown)

    @property
    def task(self) -> TaskType:
        return self.conclusion.task

    @property
    def judgement(self) -> Judgement:
        """What it all comes to. The sentence, the exit code and every list of runs derive from
        this.
        """
        return self.conclusion.judgement

    @property
    def exit_code(self) -> ExitCode:
        return self.judgement.exit_code

    @property
    def seen(self) -> tuple[Finding, ...]:
        """What was seen and has several possible causes, detector by detector."""
        return tuple(finding for symptom in self.symptoms for finding in symptom.witnesses)

    @property
    def confirmed(self) -> int:
        """Findings that a training has confirmed."""
        return sum(one.status is InterventionResult.CONFIRMED for one in self.findings)

    @property
    def next_command(self) -> str:
        """What to type next; empty when the findings name their own."""
        return self.conclusion.next_command

    @property
    def sentence(self) -> str:
        """The one line to read."""
        return self.conclusion.sentence

    def document(self) -> Any:
        return drawing().shown(self, self._entry or "the program")

    def in_a_line(self) -> str:
        """Program, how many findings, and the first of them."""
        about = f"{self._entry}: " if self._entry else ""
        if not self.findings:
            return f"{about}{self.sentence}"
        first = self.findings[0]
        where = f" at {first.line}" if first.line is not None else ""
        return f"{about}{counted(len(self.findings), 'finding')}, {first.code}{where}"

    @property
    def _entry(self) -> str:
        return str(self.evidence.program.entry) if self.evidence.program is not None else ""

    @property
    def stand_in_data(self) -> tuple[str, ...]:
        """Data sets that the program got made-up data for."""
        return self.evidence.stand_in_data

    def in_short(self) -> dict[str, JsonValue]:
        """What a list of runs shows."""
        words = {
            Judgement.FINDINGS: counted(len(self.findings), "finding"),
            Judgement.BROKEN: "training looks broken",
            Judgement.UNJUDGED: "nothing could be judged",
            Judgement.SOUND: "no fault found" if self.depth.runs else "no detector fires (static)",
        }[self.judgement]
        verdict = f"{words}, {self.confirmed} confirmed" if self.confirmed else words
        short: dict[str, JsonValue] = {
            "verdict": on_stand_in(self.stand_in_data, verdict),
            "sentence": self.sentence,
            "judgement": self.judgement.value,
            "findings": len(self.findings),
            "confirmed": self.confirmed,
        }
        if self.findings:
            # The likeliest finding, and the line where it is fixed.
            suspect = self.findings[0].suspect
            place = f", {suspect.place.file}:{suspect.place.line}" if suspect.place else ""
            short["first"] = f"{suspect.headline.code} {suspect.headline.name}{place}"
        return short | self._course()

    def _course(self) -> dict[str, JsonValue]:
        """The metric that the training came to, and its loss in a few numbers."""
        trace = self.evidence.trace
        if trace is None or not trace.step_count:
            return {}
        losses = [float(value) for value in trace.steps["loss"] if math.isfinite(value)]
        count = min(IN_SHORT, len(losses))
        ends = (losses[(at + 1) * len(losses) // count - 1] for at in range(count))
        course: dict[str, JsonValue] = {
            "curve": [float(f"{value:.4g}") for value in ends],
        }
        with suppress(InputError):
            name = choose_measure(trace, self.task).name
            values = trace.metric(name).values.tolist()
            if values and math.isfinite(values[-1]):
                course["metric"] = f"{name} {values[-1]:.4g}"
        return course


IN_SHORT = 24
"""Values of a curve in a list."""


@dataclass(frozen=True, slots=True)
class Named:
    """A place, and the detector that names it."""

    code: str
    name: str
    place: Place


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file in which a finding lies."""

    file: str
    text: str
    marks: tuple[Named, ...]


def suspected_source(found: Diagnosis) -> tuple[SourceFile, ...]:
    """Every file in which a finding lies: its text, and the places with the detector that names
    each.
    """
    program = found.evidence.program
    if program is None:
        return ()
    suspects = [
        *(one.suspect for one in (*found.findings, *found.low_confidence)),
        *found.symptoms,
    ]
    named: dict[str, list[Named]] = {}
    for one in (witness for suspect in suspects for witness in suspect.witnesses):
        if one.place is not None:
            named.setdefault(str(one.place.file), []).append(Named(one.code, one.name, one.place))
    texts = {str(one.path): one.text for one in program.files}
    if program.is_notebook:
        # Its places count in the script that is made of it.
        texts[str(program.entry)] = program.script()
    return tuple(
        SourceFile(
            file,
            texts.get(file, ""),
            tuple(marks),
        )
        for file, marks in named.items()
    )
