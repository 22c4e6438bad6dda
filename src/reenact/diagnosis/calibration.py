"""How often a suspect is guilty when the rules are so sure of it.

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

    said: Sequence[float]
    right: Sequence[float]

    def at(self, confidence: float) -> float:
        """Between two points on the line that joins them, beyond the ends level."""
        if confidence <= self.said[0]:
            return self.right[0]
        if confidence >= self.said[-1]:
            return self.right[-1]
        upper = bisect_right(self.said, confidence)
        lower = upper - 1
        way = (confidence - self.said[lower]) / (self.said[upper] - self.said[lower])
        return self.right[lower] + way * (self.right[upper] - self.right[lower])

    def to_json(self) -> dict[str, JsonValue]:
        return {"said": list(self.said), "right": list(self.right)}


@cache
def shipped() -> CalibrationCurve:
    read = json.loads(files("reenact.diagnosis").joinpath(FILE).read_text(encoding="utf-8"))
    return CalibrationCurve(tuple(read["said"]), tuple(read["right"]))


def calibrated(suspect: Suspect) -> float:
    """How likely it is that this suspect is at fault, before anything was tried."""
    if all(finding.family in OWN for finding in suspect.witnesses):
        return suspect.confidence
    return shipped().at(suspect.confidence)
