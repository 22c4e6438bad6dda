"""What was told of one program by every detector, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.faults.case import Side
from benchmarks.faults.scores import Answer
from reenact.program.fault import Fault

QUICK, STORY = "all rules, quick", "the whole story"


@dataclass(frozen=True)
class CaseResult:
    """What every detector said of one program, once."""

    case: str
    side: Side
    answers: Mapping[str, list[tuple[str, int | None]]]
    """Detector to (fault, layer index)."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """`plain` training, `quick` diagnosis, the whole `story`."""
    findings: Sequence[str] = ()
    """What the story accused, in words."""
    accused: Sequence[tuple[str, float]] = ()
    """The same as `HLR` or `ACH(2)`, each with its confidence."""

    def answer(self, detector: str) -> Answer:
        return frozenset((Fault(fault), layer) for fault, layer in self.answers.get(detector, ()))
