"""The monitored features of DeepFD (Cao et al., "DeepFD: Automated Fault Diagnosis and Localization for Deep
Learning Programs", ICSE 2022): what its monitor asks at every check, with its thresholds, each followed over
time by eight statistics.

In the released table every name holds the value of the feature four places later; here names and values are
one. A check is an epoch, or a tenth of the run when there are fewer than three epochs. What the monitor asks
of accuracy is asked, for a regression, of the share of the first loss that is gone. `weight_change_little`,
which the release never sets, is set when no kernel moves by more than 1e-5 of its size in a step.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from reenact.diagnosis.learned.checks import Checks, checks_of
from reenact.rules.evidence import Evidence

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

THETA, ZETA, ETA, DELTA = 0.6, 0.03, 0.2, 0.01
GAMMA, BETA1, BETA2, BETA3 = 0.7, 1e-3, 1e-4, 70.0
LARGE_LOSS, LARGE_WEIGHT, LITTLE = 1e5, 5.0, 1e-5
STATISTICS = ("mean", "std", "skew", "median", "var", "sem", "max", "min")
BOUND = 1e6


def monitored(evidence: Evidence) -> dict[str, float]:
    """22 features by 8 statistics, named `loss_mean`, `loss_std`, ..."""
    checks = checks_of(evidence)
    found: dict[str, float] = {}
    for name, values in _asked(checks):
        for statistic, value in zip(STATISTICS, _over_time(values), strict=True):
            found[f"{name}_{statistic}"] = value
    return found


def _asked(checks: Checks) -> Iterator[tuple[str, Floats]]:
    import numpy as np

    loss, accuracy, held_loss, held = checks.loss, checks.accuracy, checks.held_loss, checks.held_accuracy
    gap, falls = accuracy - held, _rise(accuracy)
    ratio = checks.first_gradient / np.maximum(checks.last_gradient, 1e-30)
    best = np.fmax.accumulate(np.fmax(accuracy, held)) if len(accuracy) else accuracy
    gain = np.maximum.accumulate(np.nan_to_num(falls)) if len(falls) else falls
    yield "not_converge", _flag(best < THETA)
    yield "unstable_loss", _unstable(accuracy)
    yield "nan_loss", _flag(~np.isfinite(loss) | (held_loss >= LARGE_LOSS))
    yield "test_not_well", _flag(gap >= np.where(accuracy > 0.9, 0.07, 0.1))
    yield "test_turn_bad", _flag((_rise(held_loss) > 0) & (_rise(loss) <= 0))
    yield "sc_accuracy", _flag((gain < DELTA) & (np.arange(len(gain)) > 0))
    yield "died_relu", _flag(checks.zero_gradients >= GAMMA)
    yield "vanish_gradient", _flag((ratio < BETA1) & (checks.first_gradient < BETA2))
    yield "explode_gradient", _flag(ratio > BETA3)
    yield "nan_gradient", _flag(checks.bad_gradients > 0)
    yield "large_weight", _flag(checks.largest_weight > LARGE_WEIGHT)
    yield "nan_weight", _flag(checks.bad_weights > 0)
    yield "weight_change_little", _flag(checks.largest_update < LITTLE)
    yield "decrease_acc", _flag(falls < 0)
    yield "increase_loss", _flag(_rise(loss) > 0)
    yield "cons_mean_weight", _flag(np.abs(_rise(checks.mean_weight)) < LITTLE)
    yield "cons_std_weight", _flag(np.abs(_rise(checks.std_weight)) < LITTLE)
    yield "nan_acc", _flag(~np.isfinite(accuracy))
    yield from (("loss", loss), ("acc", accuracy), ("val_loss", held_loss), ("val_acc", held))


def _flag(values: NDArray[np.bool_]) -> Floats:
    return values.astype(float)


def _rise(values: Floats) -> Floats:
    """The change since the check before; NaN at the first."""
    import numpy as np

    return np.diff(values, prepend=math.nan)


def _unstable(accuracy: Floats) -> Floats:
    """Whether, up to each check, swings of at least zeta were more than eta of the checks."""
    import numpy as np

    turns = np.zeros(len(accuracy))
    for at in range(1, len(accuracy) - 1):
        before, after = accuracy[at] - accuracy[at - 1], accuracy[at + 1] - accuracy[at]
        turns[at] = before * after < 0 and abs(after) >= ZETA
    return _flag(np.cumsum(turns) >= ETA * np.arange(1, len(accuracy) + 1)) if len(accuracy) else turns


def _over_time(values: Floats) -> tuple[float, ...]:
    import numpy as np

    known = np.clip(values[np.isfinite(values)], -BOUND, BOUND)
    if not len(known):
        return (0.0,) * len(STATISTICS)
    mean, std = float(known.mean()), float(known.std())
    flat = std <= 1e-12 * max(1.0, abs(mean))
    skew = 0.0 if flat else float(np.mean(((known - mean) / std) ** 3))
    sem = 0.0 if len(known) < 2 else float(known.std(ddof=1) / np.sqrt(len(known)))
    return (mean, std, skew, float(np.median(known)), std**2, sem, float(known.max()), float(known.min()))
