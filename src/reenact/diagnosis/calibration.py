"""Calibration: how often a suspect is at fault when the rules are so confident.

A rule's confidence is its author's judgement. The curve says what came of such judgements over a few hundred
mutants whose faults are known (`python -m benchmarks train-detector` draws it); a finding carries that share.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from reenact.diagnosis.suspects import Suspect
from reenact.types import JsonValue

FILE = "calibration.json"
OWN = frozenset(("learned", "model"))
"""Families that calibrate what they say themselves."""


@dataclass(frozen=True, slots=True)
class CalibrationCurve:
    """Confidences, ascending, and the share that was right."""

    confidences: Sequence[float]
    shares: Sequence[float]

    def at(self, confidence: float) -> float:
        """Between two points on the line that joins them, beyond the ends level."""
        if confidence <= self.confidences[0]:
            return self.shares[0]
        if confidence >= self.confidences[-1]:
            return self.shares[-1]
        upper = bisect_right(self.confidences, confidence)
        lower = upper - 1
        way = (confidence - self.confidences[lower]) / (self.confidences[upper] - self.confidences[lower])
        return self.shares[lower] + way * (self.shares[upper] - self.shares[lower])

    def to_json(self) -> dict[str, JsonValue]:
        return {"said": list(self.confidences), "right": list(self.shares)}


@cache
def shipped() -> CalibrationCurve:
    read = json.loads(files("reenact.diagnosis").joinpath(FILE).read_text(encoding="utf-8"))
    return CalibrationCurve(tuple(read["said"]), tuple(read["right"]))


def calibrated(suspect: Suspect) -> float:
    """How likely it is that this suspect is at fault, before anything was tried."""
    if all(finding.family in OWN for finding in suspect.witnesses):
        return suspect.confidence
    return shipped().at(suspect.confidence)
