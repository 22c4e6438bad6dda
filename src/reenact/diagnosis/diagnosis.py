"""What a diagnosis says: accusations with what was tried, symptoms, and how it came about."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from reenact.diagnosis.depth import Depth
from reenact.diagnosis.judgement import (
    DEEPER,
    Judgement,
    ending,
    grave_symptoms,
    judgement_of,
    next_command,
    why_unjudged,
)
from reenact.diagnosis.suspects import Suspect
from reenact.program.patch import Patch
from reenact.rules.evidence import Evidence
from reenact.trials.budget import TrainingUsage
from reenact.trials.metric import Measure
from reenact.trials.statistics import Comparison
from reenact.types import ExitCode, JsonValue


class InterventionResult(StrEnum):
    """What trying a suspect has shown."""

    UNTRIED = "untried"
    CONFIRMED = "confirmed"
    """Changing it, alone or with others that are needed too, makes the training significantly better."""
    HELPED = "helped"
    """It helped on the seed that screened it; there was no budget, or not enough evidence, to confirm it."""
    REFUTED = "refuted"
    """Changing it did not help."""


@dataclass(frozen=True, slots=True)
class VerifiedChange:
    """A change that was trained over seeds, against the program as it stands."""

    patch: Patch
    measure: Measure
    before: tuple[float, ...]
    after: tuple[float, ...]
    comparison: Comparison
    p_value: float
    """Corrected for the number of changes that were verified."""
    confirmed: bool
    cpu_seconds: float

    def to_json(self) -> dict[str, JsonValue]:
        return {
            "patch": self.patch.to_json(),
            "metric": self.measure.name,
            "larger_is_better": self.measure.larger_is_better,
            "before": list(self.before),
            "after": list(self.after),
            "p_value": self.p_value,
            "confirmed": self.confirmed,
            "cpu_seconds": round(self.cpu_seconds, 2),
        }


@dataclass(frozen=True, slots=True)
class DiagnosisFinding:
    """A suspect, what trying it has shown, and how sure we are now."""

    suspect: Suspect
    standing: InterventionResult
    confidence: float
    tried: VerifiedChange | None = None
    """The verified change it is part of."""
    note: str = ""

    def to_json(self) -> dict[str, JsonValue]:
        suspect = self.suspect
        return {
            "fault": suspect.fault.value if suspect.fault is not None else None,
            "layer": suspect.layer or None,
            "layer_index": suspect.layer_index,
            "confidence": round(self.confidence, 3),
            "standing": self.standing.value,
            "file": str(suspect.place.file) if suspect.place is not None else None,
            "line": suspect.place.line if suspect.place is not None else None,
            "witnesses": [finding.to_json() for finding in suspect.witnesses],
            "suggestions": [suggestion.to_json() for suggestion in suspect.suggestions],
            "tried": self.tried.to_json() if self.tried is not None else None,
            "note": self.note or None,
        }


@dataclass(frozen=True)
class Diagnosis:
    """The answer."""

    depth: Depth
    evidence: Evidence
    accusations: tuple[DiagnosisFinding, ...]
    """At or above the threshold, surest first."""
    doubts: tuple[DiagnosisFinding, ...]
    """Below it, among them what was refuted."""
    symptoms: tuple[Suspect, ...]
    """What is wrong to see but accuses no one thing."""
    threshold: float
    spent: TrainingUsage
    measure: Measure | None = None
    notes: tuple[str, ...] = field(default=())
    """What could not be done, each in a sentence."""
    reused: str = ""
    """What was not made by this execution, in a line; empty for nothing."""

    @property
    def judgement(self) -> Judgement:
        """What it all comes to. The sentence, the exit code and every list of runs derive from this."""
        return judgement_of(
            self.evidence,
            self.depth,
            findings=len(self.accusations),
            symptoms=self.symptoms,
            threshold=self.threshold,
        )

    @property
    def exit_code(self) -> ExitCode:
        return self.judgement.exit_code

    @property
    def confirmed(self) -> int:
        """Findings that a training has confirmed."""
        return sum(one.standing is InterventionResult.CONFIRMED for one in self.accusations)

    @property
    def next_command(self) -> str:
        """What to type next; empty when the findings name their own."""
        return next_command(self.judgement, self.evidence, self.depth)

    @property
    def sentence(self) -> str:
        """The one line to read."""
        match self.judgement:
            case Judgement.FINDINGS:
                confirmed = f", {self.confirmed} confirmed by training" if self.depth.intervenes else ""
                return f"{_counted(len(self.accusations), 'finding')}{confirmed}."
            case Judgement.BROKEN:
                return self._broken()
            case Judgement.UNJUDGED:
                return f"Nothing could be judged: {why_unjudged(self.evidence, self.depth)}."
            case Judgement.SOUND:
                return self._sound()

    def _broken(self) -> str:
        count = _counted(len(grave_symptoms(self.symptoms, self.threshold)), "symptom")
        deeper = f" Try --depth {DEEPER[self.depth]}." if self.depth in DEEPER else ""
        return f"Training looks broken ({count}), cause not identified.{deeper}"

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
            Judgement.FINDINGS: _counted(len(self.accusations), "finding"),
            Judgement.BROKEN: "training looks broken",
            Judgement.UNJUDGED: "nothing could be judged",
            Judgement.SOUND: "no fault found" if self.depth.runs else "no rule fires (static)",
        }[self.judgement]
        return {
            "verdict": f"{words}, {self.confirmed} confirmed" if self.confirmed else words,
            "sentence": self.sentence,
            "judgement": self.judgement.value,
            "findings": len(self.accusations),
            "confirmed": self.confirmed,
        }

    def to_json(self) -> dict[str, JsonValue]:
        return {
            "judgement": self.judgement.value,
            "sentence": self.sentence,
            "next": self.next_command or None,
            "depth": self.depth.value,
            "threshold": self.threshold,
            "task": self.evidence.task.value,
            "metric": self.measure.name if self.measure is not None else None,
            "findings": [accusation.to_json() for accusation in self.accusations],
            "doubts": [accusation.to_json() for accusation in self.doubts],
            "symptoms": [finding.to_json() for symptom in self.symptoms for finding in symptom.witnesses],
            "seconds": round(self.spent.seconds, 2),
            "trainings": self.spent.trainings,
            "notes": list(self.notes),
        }


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
