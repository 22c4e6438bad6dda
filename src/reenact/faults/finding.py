"""A finding: one thing that is wrong at one place, from the detector that sees it to the report.

detector -> one observation -> merged with what others saw of the same fault at the same place
-> weighed against the rest and the training -> calibrated -> tried by training -> shown

Nothing that its observations say is kept twice: fault, layer, place, suggestions are read off them. What a
finding has of its own is how sure that is and what trying it has shown; every number comes from
`reenact.faults.confidence`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TypedDict, Unpack

from reenact.faults import confidence as sure
from reenact.faults.agreement import (
    FindingKey,
    candidates_of,
    firsts,
    headline_of,
    is_of_training,
    key_of,
    layered_of,
    place_of,
    refused_of,
    suggestions_of,
)
from reenact.faults.confidence import Health, Word, word_of
from reenact.faults.fault_type import FaultType
from reenact.faults.fix import DroppedFix, Fix
from reenact.faults.observation import (
    Certainty,
    Observation,
    Observes,
    Refused,
    Severity,
    Suggestion,
)
from reenact.faults.tried import ChangeEffect, InterventionResult
from reenact.program.hyperparameter import HyperparameterId
from reenact.result import Result, rounded
from reenact.types import Place


class FindingJson(TypedDict):
    """A finding as JSON."""

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
    witnesses: tuple[Observation, ...]
    suggestions: tuple[Suggestion, ...]
    candidates: tuple[Suggestion, ...]
    refused: tuple[str, ...]
    fix: Fix | None
    dropped_fixes: tuple[DroppedFix, ...]
    tried: ChangeEffect | None
    note: str | None


class Refinement(TypedDict, total=False):
    """What a detector may say otherwise of its observation, once it has looked closer."""

    fault: FaultType
    why: str
    place: Place | None
    step: int | None
    hyperparameter: HyperparameterId
    suggestions: tuple[Suggestion, ...]
    candidates: tuple[Suggestion, ...]
    refused: tuple[Refused, ...]
    is_root_cause: bool
    confidence: float
    certainty: Certainty


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Finding(Result):
    """One thing that is wrong, or looks wrong, at one place."""

    observations: tuple[Observation, ...]
    """What was seen of it, the surest first. A detector sees one thing."""
    agreeing: tuple[Observation, ...] = ()
    """Opinions of a model on what detectors saw: they make nothing surer."""
    suspicion: float
    """How sure the observations are, before that is calibrated: what is tried first."""
    confidence: float
    """How sure it is by now."""
    is_doubted: bool = False
    """Whether the training speaks against it: it is listed as worth a look until a trial
    confirms it.
    """
    status: InterventionResult = InterventionResult.UNTRIED
    """What trying it has shown."""
    tried: ChangeEffect | None = None
    """The change it was tried with, and what that came to."""
    note: str = ""
    fix: Fix | None = None
    """The edit to make; none where none is suggested, or none of them does."""
    dropped_fixes: tuple[DroppedFix, ...] = ()
    """Edits that were suggested and do not do, each with the reason."""

    def json_fields(self) -> FindingJson:
        place = self.place
        return {
            "fault": self.fault,
            "fault_name": self.fault_name or None,
            "layer": self.layer or None,
            "layer_index": self.layer_index,
            "certainty": self.certainty,
            "word": self.word,
            "score": rounded(self.confidence, 3),
            "status": self.status,
            "file": place.file if place is not None else None,
            "line": self.line,
            "witnesses": self.witnesses,
            "suggestions": self.suggestions,
            "candidates": self.candidates,
            "refused": tuple(one.reason for one in self.refused),
            "fix": self.fix,
            "dropped_fixes": self.dropped_fixes,
            "tried": self.tried,
            "note": self.note or None,
        }

    # What was seen

    @property
    def first(self) -> Observation:
        """The surest observation."""
        return self.observations[0]

    @property
    def witnesses(self) -> tuple[Observation, ...]:
        """The surest observation of each detector, and that a model agrees."""
        return firsts((*self.observations, *self.agreeing), lambda one: one.code)

    @property
    def headline(self) -> Observation:
        """The observation to name: the surest whose detector is about this very fault."""
        return headline_of(self.observations)

    @property
    def code(self) -> str:
        """Of the detector that names it, such as RE010."""
        return self.headline.code

    @property
    def name(self) -> str:
        """Of that detector, such as gradients-not-cleared."""
        return self.headline.name

    @property
    def fault_name(self) -> str:
        """Of the fault, such as missing-zero-grad; empty where no detector of the list names it."""
        return self.headline.fault_name

    @property
    def saw(self) -> str:
        """What was seen, with its numbers."""
        return self.headline.saw

    @property
    def why(self) -> str:
        """Why that is wrong, in one sentence."""
        return self.headline.why

    @property
    def message(self) -> str:
        """What was seen, and why that is wrong; of an opinion, that it is one."""
        if not self.is_opinion:
            return f"{self.saw}. {self.why}"
        basis = "nothing was executed"
        if self.status is not InterventionResult.UNTRIED:
            basis = self.note or "no training confirms it"
        return f"A model thinks, in {self.saw.rstrip('.')}; {basis}."

    @property
    def severity(self) -> Severity:
        return self.first.severity

    @property
    def certainty(self) -> Certainty:
        """The best that one of the witnesses has to offer."""
        return sure.best_certainty(self.witnesses)

    @property
    def suggestions(self) -> tuple[Suggestion, ...]:
        """Different changes that may help, what was measured before what is only inferred."""
        return suggestions_of((*self.observations, *self.agreeing))

    @property
    def candidates(self) -> tuple[Suggestion, ...]:
        """Edits of code that should take the fault away, the likeliest first. One is right where the
        same detector is silent on the edited program.
        """
        return candidates_of(self.observations)

    @property
    def edits(self) -> tuple[Suggestion, ...]:
        """What may be its fix: edits of code before other values of a hyperparameter."""
        return (*self.candidates, *self.suggestions)

    @property
    def refused(self) -> tuple[Refused, ...]:
        """Why an edit of code is not offered."""
        return refused_of(self.observations)

    # What it is, and where

    @property
    def fault(self) -> FaultType | None:
        """None for a symptom that no single fault type explains."""
        return self.first.fault

    @property
    def is_root_cause(self) -> bool:
        """False for a symptom."""
        return self.first.is_root_cause

    @property
    def is_opinion(self) -> bool:
        """Whether nothing but a model's reading speaks for it: no execution has confirmed it. It
        is listed apart, and neither verdict nor exit code counts it.
        """
        tried = self.status is InterventionResult.CONFIRMED
        return self.first.observes is Observes.OPINION and not tried

    @property
    def key(self) -> FindingKey:
        """What it is: no two findings of one diagnosis have the same."""
        return key_of(self.first)

    @property
    def layer(self) -> str:
        """Name of the layer; empty for what belongs to the training."""
        layered = layered_of(self.observations)
        return layered.layer if layered is not None else ""

    @property
    def layer_index(self) -> int | None:
        """Its place in `model.layers`, from 0."""
        layered = layered_of(self.observations)
        if layered is not None:
            return layered.layer_index
        return None

    @property
    def is_of_training(self) -> bool:
        """Whether it belongs to no layer."""
        return is_of_training(self.fault)

    @property
    def hyperparameter(self) -> HyperparameterId | None:
        """The hyperparameter at fault, when it is one."""
        named = (one.hyperparameter for one in self.observations)
        for one in named:
            if one is not None:
                return one
        return None

    @property
    def place(self) -> Place | None:
        """Where it stands in the source."""
        return place_of(self.observations)

    @property
    def file(self) -> str:
        """Relative to the program's folder; empty where it has no place in the source."""
        if self.place is not None:
            return str(self.place.file)
        return ""

    @property
    def line(self) -> int | None:
        """Counted from 1; none where it has no place in the source."""
        return self.place.line if self.place is not None else None

    # How sure

    def refined(self, **changes: Unpack[Refinement]) -> Finding:
        """What its detector says once it has looked closer; of a finding that is not merged."""
        (observation,) = self.observations
        return finding_of(replace(observation, **changes))

    @property
    def word(self) -> Word:
        """How sure: proven, likely or possible. However many answers agree, an opinion is possible."""
        return Word.POSSIBLE if self.is_opinion else word_of(self.confidence)

    def explained(self) -> Finding:
        """The same where a cause is known that would have the same effect."""
        suspicion = sure.explained(self.suspicion, self.certainty)
        return replace(self, suspicion=suspicion, confidence=suspicion)

    def weighed(self, health: Health) -> Finding:
        """The same; doubted where a training of this health speaks against it."""
        against = sure.is_spoken_against(self.suspicion, self.witnesses, health)
        return replace(self, is_doubted=against)

    def calibrated(self) -> Finding:
        """The same, as likely as it is before anything was tried."""
        share = sure.before_trials(
            self.suspicion,
            self.certainty,
            is_calibrated=sure.are_calibrated(self.witnesses),
            is_doubted=self.is_doubted,
        )
        return replace(self, confidence=share)

    def confirmed(self, effect: ChangeEffect) -> Finding:
        """After a training has confirmed it."""
        return replace(
            self,
            status=InterventionResult.CONFIRMED,
            tried=effect,
            confidence=sure.confirmed(self.confidence),
        )

    def refuted(self, effect: ChangeEffect, note: str) -> Finding:
        """After trainings have shown that changing it makes no difference."""
        return replace(
            self,
            status=InterventionResult.REFUTED,
            tried=effect,
            note=note,
            confidence=sure.refuted(self.confidence),
        )

    def demoted(self, threshold: float, note: str) -> Finding:
        """The same as worth a look, and not reported."""
        return replace(self, note=note, confidence=sure.below(self.confidence, threshold))

    # How it reads

    def in_a_line(self) -> str:
        where = f" at {self.place}" if self.place is not None else ""
        return f"{self.code} {self.name}{where}"

    def __str__(self) -> str:
        change = self.fix.diff.rstrip() if self.fix is not None else ""
        return "\n".join(part for part in (f"{self.in_a_line()}: {self.message}", change) if part)


def finding_of(observation: Observation) -> Finding:
    """What one detector says."""
    return Finding(
        observations=(observation,),
        suspicion=observation.confidence,
        confidence=observation.confidence,
    )


def merged(findings: Iterable[Finding]) -> Finding:
    """Findings of the same fault at the same place as one."""
    seen = [observation for one in findings for observation in one.observations]
    observations = tuple(sorted(seen, key=lambda one: -one.confidence))
    suspicion = sure.combined(observations)
    return Finding(observations=observations, suspicion=suspicion, confidence=suspicion)


Findings = Iterator[Finding]
"""What the function of a detector yields."""
