"""Is after better than before? Exact small-sample answers for metrics measured over seeds.

Samples are paired by seed and oriented so that larger is better; a training that failed is -inf.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean, stdev
from typing import Any

from reenact.errors import InputError

ALPHA = 0.05
EXACT_UP_TO = 20
"""Pairs up to which all 2^n sign patterns are counted; beyond it the normal approximation holds."""

POWER = 0.8
"""How often a gain must be found to be called detectable."""
DRAWS = 4000
"""Simulated experiments, of which the share that finds a gain is known to about 0.006."""
LARGEST_EFFECT = 32.0
"""In standard deviations: a gain as large as this makes every pair better."""


@dataclass(frozen=True, slots=True)
class PairedSamples:
    """Paired samples before and after a change."""

    before: tuple[float, ...]
    after: tuple[float, ...]
    p_value: float
    """Wilcoxon signed-rank, one-sided (after is larger), over all sign patterns, ties and zeros
    included.
    """
    rank_biserial: float
    """Effect size from -1 (every pair worse) to 1 (every pair better)."""
    cohen_d: float
    """Difference of means in pooled standard deviations; infinite when both are constant and
    differ.
    """


def compare(
    before: Sequence[float],
    after: Sequence[float],
    *,
    looked: int = 0,
) -> PairedSamples:
    """Paired comparison; both samples oriented, same length, same seeds in the same order; `looked`
    as in `signed_rank_p`.
    """
    if len(before) != len(after) or len(before) < 2:
        needs = "two samples of one length, at least 2"
        given = f"before={len(before)}, after={len(after)}"
        raise InputError(f"A paired comparison needs {needs}. Received: {given}.")
    differences = list(map(_difference, after, before))
    ranks = _signed_ranks(differences)
    total = sum(map(abs, ranks))
    p_value = signed_rank_p(differences, looked=looked)
    biserial = sum(ranks) / total if total else 0.0
    return PairedSamples(
        tuple(before),
        tuple(after),
        p_value,
        biserial,
        cohen_d(before, after),
    )


def signed_rank_p(differences: Sequence[float], *, looked: int = 0) -> float:
    """One-sided p-value that the differences lie above zero (Wilcoxon 1945, zeros after Pratt
    1959).

    `looked`: the test would have ended with the first so many, had all of them been above zero.
    Patterns of signs that would have are counted too, so that both looks together are wrong no more
    often than one.
    """
    ranks = _signed_ranks(differences)
    positive = sum(rank for rank in ranks if rank > 0)
    weights = [abs(rank) for rank in ranks if rank != 0]
    if not weights:
        return 1.0
    share = _share_at_least(weights, positive)
    if not looked or 0 in ranks[:looked]:
        return share
    ended = 0.5**looked
    late = [abs(rank) for rank in ranks[looked:] if rank != 0]
    both = ended * _share_at_least(
        late,
        positive - sum(map(abs, ranks[:looked])),
    )
    return share + ended - both


def is_settled(
    before: Sequence[float],
    after: Sequence[float],
    planned: int,
    alpha: float,
) -> bool:
    """Whether the first of so many planned pairs decide: all are better, or the rest cannot
    help any more.
    """
    differences = list(map(_difference, after, before))
    at_best = [
        *differences,
        *[math.inf] * (planned - len(differences)),
    ]
    return min(differences) > 0 or signed_rank_p(at_best, looked=len(differences)) >= alpha


def non_inferior(
    before: Sequence[float],
    full: Sequence[float],
    smaller: Sequence[float],
    *,
    keep: float = 0.9,
) -> bool:
    """Whether a smaller change surely keeps at least `keep` of the gain of the full one.

    The burden of proof is on the smaller change: with few seeds the answer is no. Where the
    training failed before, to succeed is the gain.
    """
    pairs = zip(before, full, strict=True)
    bar = [old + keep * _difference(new, old) if math.isfinite(old) else old for old, new in pairs]
    return signed_rank_p(list(map(_difference, smaller, bar))) < ALPHA


def gains_less_than(
    margin: float,
    before: Sequence[float],
    after: Sequence[float],
) -> bool:
    """Whether the mean gain surely lies below the margin: its upper confidence limit does
    (Student's t, one side). With few or noisy pairs that limit is high and the answer no; a failed
    training decides nothing.
    """
    differences = [new - old for old, new in zip(before, after, strict=True)]
    if len(differences) < 3 or not all(map(math.isfinite, differences)):
        return False
    from scipy.stats import t

    error = stdev(differences) / math.sqrt(len(differences))
    return (
        fmean(differences)
        + float(
            t.ppf(
                1 - ALPHA,
                len(differences) - 1,
            )
        )
        * error
        < margin
    )


def detectable_gain(
    before: Sequence[float],
    after: Sequence[float],
    *,
    planned: int,
    alpha: float,
    looked: int = 0,
) -> float | None:
    """The smallest gain that the test over so many planned pairs finds four times out of five.

    The differences are taken as normal, with the standard deviation that was seen. None where that
    is not known (fewer than three pairs, a training that failed, pairs that differ by nothing), and
    where so few pairs cannot reach the level `alpha` at all.
    """
    differences = list(map(_difference, after, before))
    if len(differences) < 3 or not all(map(math.isfinite, differences)):
        return None
    spread = stdev(differences)
    effect = detectable_effect(planned, alpha, looked=looked)
    return None if effect is None or spread == 0 else effect * spread


def detectable_words(gain: float | None) -> str:
    """The same in words; empty where it is not known."""
    if gain is None:
        return ""
    return f"a gain of {gain:.2g} or more would have been seen 4 times out of 5"


@lru_cache
def detectable_effect(pairs: int, alpha: float, *, looked: int = 0) -> float | None:
    """The same in standard deviations of the differences, by simulation from a fixed seed. With a
    look on the way, the patterns that would have ended there are taken off the level
    (`signed_rank_p`).
    """
    import numpy as np

    early = 0.5**looked if looked else 0.0
    critical = _critical_sum(pairs, alpha - early)
    ends_early = bool(looked) and early < alpha
    noise = np.random.default_rng(0).standard_normal((DRAWS, pairs))

    def power(effect: float) -> float:
        differences = noise + effect
        ranks = np.abs(differences).argsort(axis=1).argsort(axis=1) + 1
        found = (ranks * (differences > 0)).sum(axis=1) >= critical
        if ends_early:
            found |= (differences[:, :looked] > 0).all(axis=1)
        return float(found.mean())

    low, high = 0.0, LARGEST_EFFECT
    if power(high) < POWER:
        return None
    while high - low > 0.001:
        middle = (low + high) / 2
        low, high = (low, middle) if power(middle) >= POWER else (middle, high)
    return high


def _critical_sum(pairs: int, alpha: float) -> float:
    """The least sum of positive ranks with a p-value below alpha; infinite where there is none."""
    ranks = range(1, pairs + 1)
    low = 0
    high = sum(ranks) + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _share_at_least(ranks, middle) < alpha else (middle + 1, high)
    return low if low <= sum(ranks) else math.inf


def cohen_d(before: Sequence[float], after: Sequence[float]) -> float:
    """Difference of means in pooled standard deviations (Cohen 1988)."""
    gain = fmean(after) - fmean(before)
    if gain == 0 or math.isnan(gain):
        return 0.0
    if math.isinf(gain):
        return gain
    pooled = math.sqrt((stdev(before) ** 2 + stdev(after) ** 2) / 2)
    if pooled > 0:
        return gain / pooled
    return math.copysign(math.inf, gain)


def glm_p(before: Sequence[float], after: Sequence[float]) -> float:
    """Two-sided p-value of the group term of a Gaussian GLM, the killing test of DeepCrime and of
    the study.

    With one binary term the Wald test is a z-test on the pooled standard error.
    """
    gain = fmean(after) - fmean(before)
    freedom = len(before) + len(after) - 2
    squares_before = stdev(before) ** 2 * (len(before) - 1)
    squares_after = stdev(after) ** 2 * (len(after) - 1)
    variance = (squares_before + squares_after) / freedom
    error = math.sqrt(variance * (1 / len(before) + 1 / len(after)))
    if error == 0:
        return 1.0 if gain == 0 else 0.0
    return math.erfc(abs(gain / error) / math.sqrt(2))


def _difference(new: float, old: float) -> float:
    """New minus old, where two infinities of one sign are equal."""
    return 0.0 if new == old else new - old


def _signed_ranks(differences: Sequence[float]) -> list[float]:
    """Mid-ranks of the absolute differences with the sign of the difference; zeros take ranks
    but no sign.
    """
    from scipy.stats import rankdata

    pairs: Any = zip(rankdata([abs(value) for value in differences]), differences, strict=True)
    return [math.copysign(float(rank), value) if value else 0.0 for rank, value in pairs]


def _share_at_least(weights: Sequence[float], reached: float) -> float:
    """Share of sign patterns whose positive ranks sum to at least `reached`."""
    if len(weights) > EXACT_UP_TO:
        deviation = math.sqrt(sum(weight**2 for weight in weights)) / 2
        return 0.5 * math.erfc((reached - 0.5 - sum(weights) / 2) / deviation / math.sqrt(2))
    doubled = [
        round(2 * weight) for weight in weights
    ]  # mid-ranks are halves: sums become whole numbers
    counts = Counter({0: 1})
    for weight in doubled:
        counts += Counter({total + weight: ways for total, ways in counts.items()})
    hits = sum(ways for total, ways in counts.items() if total >= round(2 * reached))
    return hits / float(2 ** len(weights))
