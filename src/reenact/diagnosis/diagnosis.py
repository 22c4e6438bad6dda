"""What a diagnosis says: findings with what was tried, symptoms, and how it came about."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import AliasChoices, Field

from reenact.diagnosis.judgement import (
    DEEPER,
    Judgement,
    ending,
    grave_symptoms,
    judgement_of,
    next_command,
    on_stand_in,
    why_unjudged,
)
from reenact.diagnosis.options import Depth
from reenact.diagnosis.suspects import Suspect
from reenact.errors import InputError, ReenactError
from reenact.program.graph import TaskType
from reenact.program.patch import Patch
from reenact.program.program import Program
from reenact.result import Result
from reenact.rules.evidence import Evidence
from reenact.rules.finding import Finding
from reenact.trials.budget import TrainingUsage
from reenact.trials.metric import Measure, choose_measure
from reenact.trials.statistics import Comparison
from reenact.types import ExitCode, JsonValue, Place


class InterventionResult(StrEnum):
    """What trying a suspect has shown."""

    UNTRIED = "untried"
    CONFIRMED = "confirmed"
    """Changing it, alone or with others that are needed too, makes the training significantly better."""
    UNDECIDED = "undecided"
    """It was changed, and too little was seen to say: what was believed before stands."""
    REFUTED = "refuted"
    """Changing it was shown to make no difference that matters, where a difference could have been seen."""

    @classmethod
    def _missing_(cls, value: object) -> InterventionResult | None:
        """Earlier versions had a word of their own for what helped in a first look."""
        return cls.UNDECIDED if value == "helped" else None


@dataclass(frozen=True, slots=True)
class ChangeEffect:
    """What a change came to: trained over seeds with it and without it."""

    JSON: ClassVar = (
        "patch", "metric=measure.name", "larger_is_better=measure.larger_is_better", "before", "after",
        "p_value", "confirmed", "on_top_of?", "cpu_seconds:2",
    )  # fmt: skip

    patch: Patch
    measure: Measure
    before: tuple[float, ...]
    after: tuple[float, ...]
    comparison: Comparison | None = None
    """None for a single seed."""
    p_value: float | None = None
    """Corrected for the number of changes that were verified; none where nothing was to be confirmed."""
    confirmed: bool = False
    cpu_seconds: float = 0.0
    on_top_of: str = ""
    """Changes that both trainings had; empty for none."""


@dataclass(frozen=True, slots=True)
class DiagnosisFinding(Result):
    """A suspect, what trying it has shown, and how sure we are now."""

    JSON: ClassVar = (
        "fault=suspect.fault", "layer=suspect.layer?", "layer_index=suspect.layer_index",
        "certainty=suspect.certainty", "confidence:3", "status",
        "file=suspect.place.file", "line=suspect.place.line", "witnesses=suspect.witnesses",
        "suggestions=suspect.suggestions", "fix?", "tried", "note?",
    )  # fmt: skip

    suspect: Suspect
    status: Annotated[InterventionResult, Field(validation_alias=AliasChoices("status", "standing"))]
    """Earlier versions stored it under another name."""
    confidence: float
    tried: ChangeEffect | None = None
    """The change it was tried with, and what that came to."""
    note: str = ""
    fix: str = ""
    """That change, or the first that is suggested, as a unified diff; empty where there is none."""

    def with_fix(self, program: Program | None) -> DiagnosisFinding:
        """The same with its fix, for this program."""
        first = self.suspect.suggestions[0].patch if self.suspect.suggestions else None
        patch = self.tried.patch if self.tried is not None else first
        if patch is None or program is None:
            return self
        try:
            return replace(self, fix=patch.diff(program))
        except ReenactError:
            return self


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What a diagnosis comes to, for readers who have not the evidence any more."""

    judgement: Judgement
    sentence: str
    next_command: str
    task: TaskType


@dataclass(frozen=True)
class Diagnosis(Result):
    """The answer."""

    JSON: ClassVar = (
        "judgement", "sentence", "next=next_command?", "depth", "threshold", "task",
        "metric=measure.name", "findings", "doubts=low_confidence", "symptoms=seen",
        "seconds=spent.seconds:2", "trainings=spent.trainings", "stand_in_data", "notes",
    )  # fmt: skip

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

    def to_store(self) -> Diagnosis:
        """The same with its conclusion: the journal does not keep program and trace."""
        conclusion = Conclusion(self.judgement, self.sentence, self.next_command, self.task)
        return replace(self, concluded=conclusion)

    @property
    def task(self) -> TaskType:
        return self.concluded.task if self.concluded is not None else self.evidence.task

    @property
    def judgement(self) -> Judgement:
        """What it all comes to. The sentence, the exit code and every list of runs derive from this."""
        if self.concluded is not None:
            return self.concluded.judgement
        return judgement_of(
            self.evidence,
            self.depth,
            findings=len(self.findings),
            symptoms=self.symptoms,
            threshold=self.threshold,
        )

    @property
    def exit_code(self) -> ExitCode:
        return self.judgement.exit_code

    @property
    def seen(self) -> tuple[Finding, ...]:
        """What was seen and has several possible causes, rule by rule."""
        return tuple(finding for symptom in self.symptoms for finding in symptom.witnesses)

    @property
    def confirmed(self) -> int:
        """Findings that a training has confirmed."""
        return sum(one.status is InterventionResult.CONFIRMED for one in self.findings)

    @property
    def next_command(self) -> str:
        """What to type next; empty when the findings name their own."""
        if self.concluded is not None:
            return self.concluded.next_command
        return next_command(self.judgement, self.evidence, self.depth)

    @property
    def sentence(self) -> str:
        """The one line to read."""
        if self.concluded is not None:
            return self.concluded.sentence
        return on_stand_in(self.stand_in_data, self._sentence)

    @property
    def stand_in_data(self) -> tuple[str, ...]:
        """Data sets that the program got made-up data for."""
        return self.evidence.stand_in_data

    @property
    def _sentence(self) -> str:
        match self.judgement:
            case Judgement.FINDINGS:
                confirmed = f", {self.confirmed} confirmed by training" if self.depth.intervenes else ""
                return f"{_counted(len(self.findings), 'finding')}{confirmed}."
            case Judgement.BROKEN:
                grave = grave_symptoms(self.symptoms, self.threshold)
                seen = grave or [one for one in self.symptoms if one.confidence >= self.threshold]
                count = _counted(len(seen), "symptom")
                deeper = f" Try --depth {DEEPER[self.depth]}." if self.depth in DEEPER else ""
                return f"Training looks broken ({count}), cause not identified.{deeper}"
            case Judgement.UNJUDGED:
                return f"Nothing could be judged: {why_unjudged(self.evidence, self.depth)}."
            case Judgement.SOUND:
                return self._sound()

    def _sound(self) -> str:
        if not self.depth.runs:
            return "No rule fires on the text. Nothing was run (--depth static)."
        ended = ending(self.evidence)
        if not ended:
            return f"No fault found at depth {self.depth}."
        steps = self.evidence.trace.step_count if self.evidence.trace is not None else 0
        return f"No fault found at depth {self.depth} in the {_counted(steps, 'step')} seen. {ended}"

    def in_short(self) -> dict[str, JsonValue]:
        """What a list of runs shows."""
        words = {
            Judgement.FINDINGS: _counted(len(self.findings), "finding"),
            Judgement.BROKEN: "training looks broken",
            Judgement.UNJUDGED: "nothing could be judged",
            Judgement.SOUND: "no fault found" if self.depth.runs else "no rule fires (static)",
        }[self.judgement]
        return {
            "verdict": on_stand_in(
                self.stand_in_data, f"{words}, {self.confirmed} confirmed" if self.confirmed else words
            ),
            "sentence": self.sentence,
            "judgement": self.judgement.value,
            "findings": len(self.findings),
            "confirmed": self.confirmed,
            **({"first": self._first} if self.findings else {}),
            **self._course(),
        }

    @property
    def _first(self) -> str:
        """The likeliest finding, and the line where it is fixed."""
        suspect = self.findings[0].suspect
        place = f", {suspect.place.file}:{suspect.place.line}" if suspect.place else ""
        return f"{suspect.headline.code} {suspect.headline.name}{place}"

    def _course(self) -> dict[str, JsonValue]:
        """The metric that the training came to, and its loss in a few numbers."""
        trace = self.evidence.trace
        if trace is None or not trace.step_count:
            return {}
        losses = [float(value) for value in trace.steps["loss"] if math.isfinite(value)]
        count = min(IN_SHORT, len(losses))
        ends = (losses[(at + 1) * len(losses) // count - 1] for at in range(count))
        course: dict[str, JsonValue] = {"curve": [float(f"{value:.4g}") for value in ends]}
        try:
            name = choose_measure(trace, self.task).name
        except InputError:
            return course
        values = trace.metric(name).values.tolist()
        if values and math.isfinite(values[-1]):
            course["metric"] = f"{name} {values[-1]:.4g}"
        return course


IN_SHORT = 24
"""Values of a curve in a list."""


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class Named:
    """A place, and the rule that names it."""

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
    """Every file in which a finding lies: its text, and the places with the rule that names each."""
    program = found.evidence.program
    if program is None:
        return ()
    suspects = [*(one.suspect for one in (*found.findings, *found.low_confidence)), *found.symptoms]
    named: dict[str, list[Named]] = {}
    for one in (witness for suspect in suspects for witness in suspect.witnesses):
        if one.place is not None:
            named.setdefault(str(one.place.file), []).append(Named(one.code, one.name, one.place))
    return tuple(SourceFile(file, _text(program, file), tuple(marks)) for file, marks in named.items())


def _text(program: Program, file: str) -> str:
    """A notebook is read as the script that its places count in."""
    if program.is_notebook and file == str(program.entry):
        return program.script()
    found = program.file(file)
    return found.text if found is not None else ""
