"""What a diagnosis says: findings with what was tried, symptoms, and how it came about."""

from __future__ import annotations

import math
import sys
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypedDict

from reenact.accounts import Account
from reenact.diagnosis.earlier_journals import in_this_form
from reenact.diagnosis.judgement import (
    Conclusion,
    Judgement,
    Shown,
    conclusion_of,
    counted,
    on_stand_in,
)
from reenact.diagnosis.options import Depth
from reenact.drawing import drawing
from reenact.errors import InputError
from reenact.faults.confidence import Word
from reenact.faults.evidence import Evidence
from reenact.faults.finding import Finding
from reenact.faults.observation import Observation
from reenact.faults.tried import InterventionResult
from reenact.program.graph import TaskType
from reenact.result import Result, rounded
from reenact.trials.budget import TrainingUsage
from reenact.trials.metric import Measure, choose_measure
from reenact.types import ExitCode, JsonValue, Place

if TYPE_CHECKING:
    from reenact.claims.verdict import ClaimVerdict


def know_claims() -> None:
    """Give this module the class of tested claims by its name, for those who read its annotations.
    It brings pydantic along, which a diagnosis of the text alone does without.
    """
    from reenact.claims.verdict import ClaimVerdict

    vars(sys.modules[__name__])["ClaimVerdict"] = ClaimVerdict


class DiagnosisJson(TypedDict):
    """A diagnosis as JSON."""

    judgement: Judgement
    sentence: str
    next: str | None
    depth: Depth
    threshold: float
    task: TaskType
    metric: str | None
    findings: tuple[Finding, ...]
    doubts: tuple[Finding, ...]
    opinions: tuple[Finding, ...]
    hypotheses: tuple[ClaimVerdict, ...]
    symptoms: tuple[Observation, ...]
    accounts: tuple[Account, ...]
    seconds: float
    trainings: int
    stand_in_data: tuple[str, ...]
    notes: tuple[str, ...]
    applied: str | None


@dataclass(frozen=True, repr=False)
class Diagnosis(Result):
    """What is wrong with a training, how sure that is, and how it was found."""

    depth: Depth
    evidence: Evidence
    findings: tuple[Finding, ...]
    """At or above the threshold, surest first."""
    low_confidence: tuple[Finding, ...]
    """Below it, among them what was refuted."""
    symptoms: tuple[Finding, ...]
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
    accounts: tuple[Account, ...] = ()
    """What the books of the watched run come to."""
    opinions: tuple[Finding, ...] = ()
    """What a model thinks and no execution has confirmed; neither verdict nor exit code counts it."""
    hypotheses: tuple[ClaimVerdict, ...] = ()
    """What a model claims, and what execution made of it; proven and likely ones are findings too."""

    applied: str = ""
    """Where a fix was written, or why none was; empty where no one asked."""
    written: str = ""
    """That fix, as a diff."""

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
            "opinions": self.opinions,
            "hypotheses": self.hypotheses,
            "symptoms": self.seen,
            "accounts": self.accounts,
            "seconds": rounded(self.spent.seconds, 2),
            "trainings": self.spent.trainings,
            "stand_in_data": self.stand_in_data,
            "notes": self.notes,
            "applied": self.applied or None,
        }

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: Any) -> Any:
        """How a journal gives it back."""
        from pydantic_core import core_schema

        know_claims()

        return core_schema.no_info_before_validator_function(in_this_form, handler(source))

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
            proven=sum(one.word is Word.PROVEN for one in self.findings),
            confirmed=self.confirmed,
            changes=sum(bool(one.edits) for one in self.findings),
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
    def seen(self) -> tuple[Observation, ...]:
        """What was seen and has several possible causes, detector by detector."""
        return tuple(finding for symptom in self.symptoms for finding in symptom.witnesses)

    @property
    def confirmed(self) -> int:
        """Findings that a training has confirmed."""
        return sum(one.status is InterventionResult.CONFIRMED for one in self.findings)

    @property
    def next_command(self) -> str:
        """What to type next; empty when nothing is left to do."""
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
            first = self.findings[0]
            place = f", {first.file}:{first.line}" if first.line is not None else ""
            short["first"] = f"{first.code} {first.name}{place}"
        if any(one.fix is not None and one.fix.tried.ran for one in self.findings):
            short["fix"] = True
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
class ShownFile:
    """A file in which a finding lies."""

    file: str
    text: str
    marks: tuple[Named, ...]


def suspected_source(found: Diagnosis) -> tuple[ShownFile, ...]:
    """Every file in which a finding lies: its text, and the places with the detector that names
    each.
    """
    program = found.evidence.program
    if program is None:
        return ()
    listed = (*found.findings, *found.low_confidence, *found.symptoms, *found.opinions)
    named: dict[str, list[Named]] = {}
    for one in (witness for finding in listed for witness in finding.witnesses):
        if one.place is not None:
            named.setdefault(str(one.place.file), []).append(Named(one.code, one.name, one.place))
    texts = {str(one.path): one.text for one in program.files}
    if program.is_notebook:
        # Its places count in the script that is made of it.
        texts[str(program.entry)] = program.script()
    return tuple(
        ShownFile(
            file,
            texts.get(file, ""),
            tuple(marks),
        )
        for file, marks in named.items()
    )
