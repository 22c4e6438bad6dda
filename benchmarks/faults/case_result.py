"""What was reported of one program by every detector, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.faults.case import Side
from benchmarks.faults.scores import Answer
from reenact.faults.fault_type import FaultType

QUICK, PIPELINE = "all rules, quick", "the whole pipeline"


@dataclass(frozen=True)
class CaseResult:
    """What every detector reported of one program, once."""

    case: str
    side: Side
    answers: Mapping[str, list[tuple[str, int | None]]]
    """Detector to (fault, layer index)."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """`plain` training, `quick` diagnosis, the whole `pipeline`."""
    findings: Sequence[str] = ()
    """What the diagnosis reported, in words."""
    reported: Sequence[tuple[str, float]] = ()
    """The same as `HLR` or `ACH(2)`, each with its confidence."""

    def answer(self, detector: str) -> Answer:
        return frozenset(
            (FaultType(fault), layer) for fault, layer in self.answers.get(detector, ())
        )
