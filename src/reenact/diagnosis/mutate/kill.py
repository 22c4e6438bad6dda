"""Whether a training notices a mutant: DeepCrime's test over seeds, GLM p < 0.05 and Cohen's d >= 0.5."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from reenact.trials.metric import Measure
from reenact.trials.outcome import Outcome
from reenact.trials.statistics import cohen_d, glm_p

ALPHA = 0.05
EFFECT = 0.5


@dataclass(frozen=True, slots=True)
class Killing:
    """The answer for one mutant; samples are oriented, larger is better, -inf for a failed training."""

    before: tuple[float, ...]
    after: tuple[float, ...]
    p_value: float
    effect: float
    """Cohen's d, negative when the mutant is worse."""

    @property
    def killed(self) -> bool:
        """Significantly worse; DeepCrime asks only for different, DeepFD for worse."""
        return self.p_value < ALPHA and self.effect <= -EFFECT


def killed(before: Sequence[float], after: Sequence[float]) -> Killing:
    """Compare the original's and the mutant's samples; two values each at least."""
    finite = _finite((*before, *after))
    original, mutant = finite[: len(before)], finite[len(before) :]
    return Killing(tuple(before), tuple(after), glm_p(original, mutant), cohen_d(original, mutant))


def oriented_values(outcomes: Sequence[Outcome], measure: Measure) -> tuple[float, ...]:
    """The measure of each training, larger is better; a training that failed or logged nothing is -inf."""
    found = []
    for outcome in outcomes:
        value = measure.read(outcome) if outcome.trained else None
        if value is None or not math.isfinite(value):
            found.append(-math.inf)
        else:
            found.append(value if measure.larger_is_better else -value)
    return tuple(found)


def _finite(values: Sequence[float]) -> list[float]:
    """Failed trainings count as worse than the worst by the whole range of what was seen."""
    known = [value for value in values if math.isfinite(value)]
    if not known:
        return [0.0] * len(values)
    lowest, highest = min(known), max(known)
    floor = lowest - ((highest - lowest) or 1.0)
    return [value if math.isfinite(value) else floor for value in values]
