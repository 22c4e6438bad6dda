"""How sure a diagnosis is, and why: the only place where confidence changes.

In this order: the detector's own judgement -> observations of other kinds -> what explains it -> the
health of the training -> the calibrated share -> what trying it has shown. Up to the calibrated share it is
a *suspicion*, from there on a *confidence*. Readers get a word: *proven* (no training can show otherwise),
*likely* or *possible*.

Evidence adds up by what was observed, once a kind. Two detectors that read the same text, or the same losses,
are one witness, whichever publications they come from.

Every function here gives a number; `reenact.faults.finding` alone sets it.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files

from reenact.faults.observation import Certainty, Observation, Observes
from reenact.types import JsonValue

PROVEN = 0.9
"""From here on a finding is called proven. Only what an observation establishes by itself, or what
a training has confirmed, comes so far; in the text, it explains what happened in the run.
"""
PROOF = 0.95
"""Confidence in what an observation establishes by itself."""
EXPLAINED = 0.6
"""What is left of the confidence in a consequence when its cause is known."""
FURTHER_WITNESS = 0.25
"""How much of the remaining doubt a witness of another kind removes, scaled by its own
confidence.
"""
DOUBTED = 0.4
"""The most that is believed, untried, of what a training that is not seen to fail speaks
against.
"""
EVEN = 0.5
"""More likely than not: so much hints of two kinds need where a training is not seen to fail."""
LIKELY = 0.45
"""From here on a finding is called likely: the lowest plateau of the calibrated curve above which
most are right.
"""
POSSIBLE = 0.3
"""Below this, a suspect that nobody tried is not worth a line."""
CONFIRMED = 0.9
"""The least that is believed of what a training has confirmed."""
REFUTED = 0.4
"""What is left of the confidence in what was shown to make no difference."""
JUST_BELOW = 0.01
CALIBRATION = "calibration.json"


class Health(StrEnum):
    """What a watched training came to, as far as `reenact.faults.health` can see."""

    WORKS = "works"
    """It is far better than guessing, or most of its loss is gone."""
    FAILS = "fails"
    """It is no better than guessing, its loss hardly fell, climbed far above its start, or is
    no number.
    """
    UNCLEAR = "unclear"
    """It learns something, has hardly begun, or its loss says nothing, as that of networks in
    turns.
    """
    UNSEEN = "unseen"
    """Nothing was trained."""


class Word(StrEnum):
    """How sure, for readers."""

    PROVEN = "proven"
    """The observation establishes it: no training can show otherwise. Or a training confirmed
    it.
    """
    LIKELY = "likely"
    """More often right than wrong."""
    POSSIBLE = "possible"
    """Worth a look."""

    @property
    def least(self) -> float:
        """The least confidence that is called so."""
        return _LEAST[self]


_LEAST = {
    Word.PROVEN: PROVEN,
    Word.LIKELY: LIKELY,
    Word.POSSIBLE: POSSIBLE,
}


def word_of(confidence: float) -> Word:
    """The word for a confidence."""
    for word in (Word.PROVEN, Word.LIKELY):
        if confidence >= word.least:
            return word
    return Word.POSSIBLE


def combined(observations: Sequence[Observation]) -> float:
    """The strongest observation, and a little more for each other kind of observation that says
    the same.
    """
    strongest: dict[Observes, float] = {}
    for one in observations:
        before = strongest.get(one.observes, 0.0)
        strongest[one.observes] = max(before, one.confidence)
    first, *others = sorted(strongest.values(), reverse=True)
    doubt = 1 - first
    for other in others:
        doubt *= 1 - FURTHER_WITNESS * other
    return 1 - doubt


def kinds_of(observations: Iterable[Observation]) -> frozenset[Observes]:
    """What was observed: so many observations are independent of each other."""
    return frozenset(one.observes for one in observations)


def best_certainty(observations: Iterable[Observation]) -> Certainty:
    """The best that one of the observations has to offer."""
    return min((one.certainty for one in observations), key=list(Certainty).index)


def explained(suspicion: float, certainty: Certainty) -> float:
    """What is left where a cause is known that would have the same effect."""
    if certainty is Certainty.PROOF:
        return suspicion
    return suspicion * EXPLAINED


def is_spoken_against(
    suspicion: float,
    observations: Sequence[Observation],
    health: Health,
) -> bool:
    """Whether a training that learns, or is not seen to fail, makes a fault less likely than not."""
    certainty = best_certainty(observations)
    if certainty is Certainty.PROOF or health not in (Health.WORKS, Health.UNCLEAR):
        return False
    own = are_calibrated(observations)
    if certainty is Certainty.HINT and not own:
        return len(kinds_of(observations)) < 2 or shipped().at(suspicion) < EVEN
    return health is Health.WORKS and _would_show(observations[0]) and not own


def _would_show(first: Observation) -> bool:
    """Whether a training with this fault would not learn."""
    fault = first.fault
    return fault is not None and fault.traits.keeps_from_learning and not first.of_held_out_rows


def are_calibrated(observations: Iterable[Observation]) -> bool:
    """Whether nothing but measured shares speaks."""
    return all(one.is_calibrated for one in observations)


@dataclass(frozen=True, slots=True)
class CalibrationCurve:
    """Confidences, ascending, and the share that was right."""

    confidences: Sequence[float]
    shares: Sequence[float]

    def at(self, confidence: float) -> float:
        """Between two points on the line that joins them, beyond the ends level."""
        known = self.confidences
        shares = self.shares
        if confidence <= known[0] or confidence >= known[-1]:
            return shares[0 if confidence <= known[0] else -1]
        upper = bisect_right(known, confidence)
        way = (confidence - known[upper - 1]) / (known[upper] - known[upper - 1])
        return shares[upper - 1] + way * (shares[upper] - shares[upper - 1])

    def to_json(self) -> dict[str, JsonValue]:
        return {
            "confidence": list(self.confidences),
            "share": list(self.shares),
        }


@cache
def shipped() -> CalibrationCurve:
    """The curve that belongs to these detectors."""
    read = json.loads(files("reenact.faults").joinpath(CALIBRATION).read_text(encoding="utf-8"))
    return CalibrationCurve(
        tuple(read["confidence"]),
        tuple(read["share"]),
    )


def before_trials(
    suspicion: float,
    certainty: Certainty,
    *,
    is_calibrated: bool,
    is_doubted: bool,
) -> float:
    """How likely it is that this is at fault, before anything was tried."""
    if certainty is Certainty.PROOF:
        return max(PROOF, suspicion)
    share = suspicion if is_calibrated else shipped().at(suspicion)
    return below(min(DOUBTED, share) if is_doubted else share, PROVEN)


def confirmed(confidence: float) -> float:
    """After a training has confirmed it."""
    return max(CONFIRMED, confidence)


def refuted(confidence: float) -> float:
    """After trainings have shown that changing it makes no difference."""
    return REFUTED * confidence


def below(confidence: float, threshold: float) -> float:
    """At most just below the threshold: worth a look, and no finding."""
    return min(confidence, threshold - JUST_BELOW)
