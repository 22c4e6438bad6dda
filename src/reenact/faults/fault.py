"""A fault: what can be wrong with a training. One file each, with its page, its detectors and their fixes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reenact.faults.detector import Detector, Look, Needs, Status
from reenact.faults.entry import FaultEntry
from reenact.faults.fault_type import FaultType
from reenact.faults.observation import Certainty, Observes, Severity


@dataclass(frozen=True, slots=True)
class Fault(FaultEntry):
    """A fault whose file makes its detectors."""

    def detector(
        self,
        code: str,
        name: str,
        family: str,
        *,
        needs: Needs,
        observes: Observes,
        why: str,
        study: FaultType | None = None,
        severity: Severity = Severity.WARNING,
        status: Status = Status.STABLE,
        confidence: float = 0.6,
        certainty: Certainty = Certainty.HINT,
        is_root_cause: bool = False,
        judges_rows: bool = False,
        of_held_out_rows: bool = False,
    ) -> Callable[[Look], Detector]:
        """Make a function a detector of this fault; the fields are those of `Detector`."""

        def made(look: Look) -> Detector:
            return Detector(
                fault=self,
                code=code,
                name=name,
                family=family,
                needs=needs,
                observes=observes,
                why=why,
                look=look,
                study=study,
                severity=severity,
                status=status,
                confidence=confidence,
                certainty=certainty,
                is_root_cause=is_root_cause or study is not None,
                judges_rows=judges_rows,
                of_held_out_rows=of_held_out_rows,
            )

        return made
