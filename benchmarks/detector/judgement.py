"""How sure the rules were of each suspect in programs whose faults are known, and who was right.

One training a program is shown to all stable rules. A suspect is right when its kind of fault was
planted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.detector.gather import Known, evidence_of
from reenact.diagnosis.grouping import grouped
from reenact.faults.confidence import CalibrationCurve
from reenact.faults.detector import run_detectors
from reenact.faults.registry import chosen
from reenact.trials.trial import Outcome

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

POINTS = 41
SUREST = 0.98
"""No curve through a thousand suspects warrants more."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One suspect."""

    base: str
    """The program it was found in, or in a mutant of."""
    confidence: float
    right: bool


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the rules' confidences are worth."""

    statements: Sequence[Statement]
    curve: CalibrationCurve
    brier: float
    """Mean squared distance of the bare confidences to what was right."""
    brier_by_curve: float
    """The same of confidences read off a curve through all other programs."""
    brier_of_share: float
    """The same of one figure for all: the share that was right."""


def statements_of(known: Iterable[Known], outcomes: Mapping[str, Outcome]) -> Iterator[Statement]:
    """What the rules statements of the first training of each program."""
    rules = chosen((), ())
    for one in known:
        planted = {fault.counted_as for fault in one.faults}
        _, evidence = next(evidence_of(one.planned, outcomes), (0, None))
        for suspect in grouped(run_detectors(rules, evidence)) if evidence is not None else ():
            if suspect.fault is not None and suspect.is_root_cause:
                right = suspect.fault.counted_as in planted
                yield Statement(one.planned.base, suspect.suspicion, right)


def judged(statements: Sequence[Statement]) -> Judgement:
    """The curve through all of them, and how well curves do for programs they were not drawn
    through.
    """
    import numpy as np

    confidences = np.array([one.confidence for one in statements])
    right = np.array([one.right for one in statements], dtype=float)
    base = np.array([one.base for one in statements])
    apart = np.zeros_like(confidences)
    for name in np.unique(base):
        of = base == name
        apart[of] = _isotonic(confidences[~of], right[~of], confidences[of])
    points = np.linspace(0, 1, POINTS)
    drawn = _isotonic(confidences, right, points)
    return Judgement(
        statements,
        CalibrationCurve(
            tuple(round(float(x), 3) for x in points),
            tuple(round(float(y), 3) for y in drawn),
        ),
        brier=float(np.mean((confidences - right) ** 2)),
        brier_by_curve=float(np.mean((apart - right) ** 2)),
        brier_of_share=float(right.var()),
    )


def _isotonic(
    confidences: NDArray[np.float64],
    right: NDArray[np.float64],
    at: NDArray[np.float64],
) -> NDArray[np.float64]:
    from sklearn.isotonic import IsotonicRegression

    fitted = IsotonicRegression(y_min=0.0, y_max=SUREST, out_of_bounds="clip").fit(
        confidences, right
    )
    found: NDArray[np.float64] = fitted.predict(at)
    return found
