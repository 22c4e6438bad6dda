"""A fault: what can be wrong with a training. One file each, with its page, its detectors and their fixes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from reenact.faults.detector import Detector, Look, Needs, Status
from reenact.faults.finding import Certainty, Observes, Severity
from reenact.program.fault_type import FaultType


class Category(StrEnum):
    """What part of a training a fault is in; the folders of `reenact.faults`."""

    OPTIMISATION = "optimisation"
    """Optimizer, learning rate, schedule, gradients, what is updated."""
    DATA = "data"
    """Inputs, their order and their scale."""
    LABELS = "labels"
    """Targets and how they meet the outputs."""
    OUTPUT = "output"
    """The last layer and the loss."""
    LAYERS = "layers"
    """Architecture, activations, initial weights."""
    EVALUATION = "evaluation"
    """Validation, metrics, train and evaluation mode."""
    SEQUENCE = "sequence"
    """Masks, padding, shifts, episodes."""
    NUMERICS = "numerics"
    """NaN, infinity, too few bits."""
    CRASH = "crash"
    """The program ended with an exception."""
    OTHER = "other"
    """What none of these names."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that can be wrong, by the name that people search for."""

    code: str
    """Two letters for the category and two digits; never given to another fault."""
    name: str
    """In the words of the field, joined by hyphens."""
    category: Category
    page: str
    """The docstring of its file: sections What, Why, Symptom, Example, Instead, Fix safety,
    Sources.
    """

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
            )

        return made
