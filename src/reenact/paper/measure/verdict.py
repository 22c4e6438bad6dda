"""The verdict: which of the paper's claims hold, its orderings first.

It comes from executions and a statistic, never from anybody's word. A ranking that is turned round
is not reproduced however near the single numbers are.

Orderings are what a paper claims by its numbers together: this method is better than that one, by
so much, on this data. Within one metric and data set the best claimed number speaks against each
other one, where either the methods differ in one setting (a ranking) or the settings of one method
do (an ablation, a trend). Methods that differ in their settings too are compared where one table
has them side by side, or where the paper has one number of each. They are tested over seeds,
pairwise, because both numbers come from the same run. Several orderings pay for being several: the
limits are those of Holm's step-down, wider for the least sure of them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from math import sqrt
from statistics import fmean, stdev

from reenact.intake.papers.paper import plain
from reenact.paper.measure.gap import Comparison, mean_gap
from reenact.paper.options import share
from reenact.paper.review.claims import PaperClaim
from reenact.types import ExitCode

SIZE = 0.5
"""Share of the claimed difference that has to be possible by the measured ones."""
CONFIDENCE = 0.95
SECOND_LOOK = 0.975
"""The same where seeds were added because the first did not decide: who looks twice is more
often misled.
"""
ONLY_REPORTED = "no predictions were seen from which it follows, so only the program says it"
Key = Callable[[PaperClaim], str]
Pair = tuple[Comparison, Comparison]


class OrderingStatus(StrEnum):
    """What the runs say of an ordering."""

    HOLDS = "holds"
    """The same side is better, surely, and by at least half of what is claimed as far as the
    runs show.
    """
    SMALLER = "smaller than claimed"
    """The same side is better, by less than half of what is claimed."""
    FAILS = "fails"
    """The other side is better, or the difference is surely less than half of what is claimed."""
    UNDECIDED = "undecided"
    """The runs are too few or too noisy to tell."""
    UNMEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class Ordering:
    """One claimed difference next to what was measured; differences are positive where the paper
    is right.
    """

    better: PaperClaim
    worse: PaperClaim
    claimed: float
    measured: float | None
    """Mean over the seeds that measured both."""
    low: float | None
    high: float | None
    """Limits of that mean, 95 % or those of a second look, wider for being one of several
    (Student's t over pairs, Holm); none for one pair.
    """
    n: int
    status: OrderingStatus

    @property
    def ids(self) -> str:
        return f"{self.better.id} > {self.worse.id}"

    def __str__(self) -> str:
        """What differs between the two, and what does not."""
        one = self.better
        other = self.worse
        data = f" on {one.dataset}" if one.dataset else ""
        if _method(one) != _method(other):
            first = one.method
            second = other.method
            beside = f"{one.metric}{data}" + (f", {one.setting}" if one.setting else "")
        else:
            first = one.setting or "the whole"
            second = other.setting or "the whole"
            beside = f"{one.metric} of {one.method}{data}"
        return f"{first} better than {second} by {self.claimed:.3g}{one.unit}: {beside}"


def orderings(
    comparisons: Sequence[Comparison], confidence: float = CONFIDENCE
) -> tuple[Ordering, ...]:
    """Every ordering that the claims state, tested. One within the paper's own plus-minus is stated
    too weakly to be asked for, and counts only where the runs surely show the opposite.
    """
    beside = [
        *_pairs(comparisons, _setting, _method),
        *_pairs(comparisons, _method, _setting),
    ]
    # Rows of one table are compared, whatever each method is set to.
    beside += _pairs(
        comparisons,
        lambda it: it.place,
        lambda it: f"{_method(it)}, {_setting(it)}",
        once=True,
    )
    compared = set(map(_sides, beside))
    # No one set numbers of several places side by side, but together they say which method is
    # better.
    measured = [one for one in comparisons if one.measured is not None]
    apart = _pairs(
        measured,
        lambda _: "",
        lambda one: f"{_method(one)}, {one.value:g}",
        once=True,
    )
    pairs: dict[tuple[str, str], Pair] = {}
    for best, other in (
        *beside,
        *(pair for pair in apart if _sides(pair) not in compared),
    ):
        pairs.setdefault(
            (best.claim.id, other.claim.id),
            (best, other),
        )
    errors = _errors_of_each(
        tuple(pairs.values()),
        1 - confidence,
    )
    tested = [_tested(*pair, 1 - error) for pair, error in zip(pairs.values(), errors, strict=True)]
    return tuple(
        one for one in tested if _is_stated(one) or (one.high is not None and one.high < 0)
    )


def _is_stated(one: Ordering) -> bool:
    """Whether the claimed difference is more than the paper's own plus-minus."""
    return one.claimed > max(one.better.spread or 0, one.worse.spread or 0)


def _errors_of_each(pairs: Sequence[Pair], error: float) -> list[float]:
    """The probability of an error that each ordering may have, so that all together have no more
    than `error` (Holm, 1979): the surest one an equal share of all, the next one an equal share of
    those that are left, and no larger one once a difference is not sure.
    """
    chances = [_chance(best, other) for best, other in pairs]
    known = sorted((chance, at) for at, chance in enumerate(chances) if chance is not None)
    errors = [error] * len(pairs)
    allowed = 0.0
    is_sure = True
    for done, (chance, at) in enumerate(known):
        if is_sure:
            allowed = error / (len(known) - done)
        errors[at] = allowed
        is_sure = is_sure and chance <= allowed
    return errors


def _chance(best: Comparison, other: Comparison) -> float | None:
    """How likely a difference of that size is where there is none (Student's t over pairs,
    two-sided); none for fewer than two pairs.
    """
    differences = _differences(best, other)
    if best.metric == other.metric or len(differences) < 2:
        return None
    from scipy.stats import t

    error = stdev(differences) / sqrt(len(differences))
    if error == 0:
        return 0.0 if fmean(differences) else 1.0
    return 2 * float(
        t.sf(
            abs(fmean(differences)) / error,
            len(differences) - 1,
        )
    )


def _differences(best: Comparison, other: Comparison) -> list[float]:
    """By seed that measured both; positive where the paper is right."""
    shared = sorted(best.by_seed.keys() & other.by_seed.keys())
    return [
        _oriented(
            best.claim,
            best.by_seed[seed] - other.by_seed[seed],
        )
        for seed in shared
    ]


def _setting(claim: PaperClaim) -> str:
    return plain(claim.setting)


def _method(claim: PaperClaim) -> str:
    return plain(claim.method)


def _pairs(
    comparisons: Sequence[Comparison],
    same: Key,
    apart: Key,
    *,
    once: bool = False,
) -> Iterator[Pair]:
    """The best claim of one metric, data set and `same` next to each other one, one for each
    `apart`; a number stated twice counts once. `once`: only where they have each method once.
    """
    groups: dict[tuple[object, ...], dict[str, Comparison]] = {}
    for one in comparisons:
        claim = one.claim
        if not claim.bound:
            key = (
                plain(claim.metric),
                claim.unit,
                claim.higher_is_better,
                plain(claim.dataset),
                same(claim),
            )
            groups.setdefault(key, {}).setdefault(
                apart(claim),
                one,
            )
    for group in map(dict.values, groups.values()):
        if not once or len({_method(one.claim) for one in group}) == len(group):
            best = max(group, key=lambda one: _oriented(one.claim, one.claim.value))
            yield from ((best, other) for other in group if other.claim.value != best.claim.value)


def _sides(pair: Pair) -> tuple[str, str, frozenset[str]]:
    """Metric, data set and the two methods."""
    one, other = (each.claim for each in pair)
    return (
        plain(one.metric),
        plain(one.dataset),
        frozenset((_method(one), _method(other))),
    )


def _oriented(claim: PaperClaim, value: float) -> float:
    return value if claim.higher_is_better else -value


def _tested(best: Comparison, other: Comparison, confidence: float) -> Ordering:
    claimed = _oriented(
        best.claim,
        best.claim.value - other.claim.value,
    )
    made = partial(Ordering, best.claim, other.claim, claimed)
    differences = _differences(best, other)
    if best.metric == other.metric or not differences:
        return made(None, None, None, 0, OrderingStatus.UNMEASURED)
    mean = fmean(differences)
    n = len(differences)
    if n < 2:
        return made(mean, None, None, n, OrderingStatus.UNDECIDED)
    from scipy.stats import t

    reach = (
        float(
            t.ppf(
                (1 + confidence) / 2,
                n - 1,
            )
        )
        * stdev(differences)
        / sqrt(n)
    )
    low = mean - reach
    high = mean + reach
    if high < SIZE * claimed:
        return made(
            mean,
            low,
            high,
            n,
            OrderingStatus.SMALLER if low > 0 else OrderingStatus.FAILS,
        )
    return made(
        mean,
        low,
        high,
        n,
        OrderingStatus.HOLDS if low > 0 else OrderingStatus.UNDECIDED,
    )


Compared = Sequence[Comparison]
Ordered = Sequence[Ordering]


class Verdict(StrEnum):
    """Whether the paper's numbers came out."""

    REPRODUCED = "reproduced"
    """Every number and every ordering holds, in the paper's own setting, and goes away without
    training.
    """
    PARTLY = "partly reproduced"
    """Some claims hold, or all do at a smaller scale, or one of them only by the program's own
    word.
    """
    NOT = "not reproduced"
    """The experiment ran in the paper's setting, and no claim or none of its orderings holds."""
    INCONCLUSIVE = "inconclusive"
    """Nothing was measured, or with other data, or at a smaller scale, where a miss says nothing;
    or what agrees comes out without training as well.
    """

    @property
    def exit_code(self) -> ExitCode:
        known = {
            Verdict.REPRODUCED: ExitCode.OK,
            Verdict.INCONCLUSIVE: ExitCode.INCONCLUSIVE,
        }
        return known.get(self, ExitCode.FOUND)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict and the sentence that explains it."""

    verdict: Verdict
    reason: str
    gap: float | None
    """Mean over all claims, a missing measure counting 1; none without claims."""
    gap_executed: float | None
    """Mean over the claims that were measured."""


def verdict_of(
    comparisons: Compared,
    orderings: Ordered = (),
    *,
    runs: bool,
    scale: float = 1.0,
    stand_in: str = "",
) -> Judgement:
    """`runs`: whether the code runs at all; `scale` and `stand_in`: how the setting is not the
    paper's.
    """
    verdict, reason = _verdict(
        comparisons,
        orderings=orderings,
        runs=runs,
        scale=scale,
        stand_in=bool(stand_in),
    )
    return Judgement(
        verdict,
        reason,
        mean_gap(comparisons),
        mean_gap(comparisons, executed=True),
    )


def _verdict(
    comparisons: Compared,
    orderings: Ordered,
    runs: bool,
    scale: float,
    stand_in: bool,
) -> tuple[Verdict, str]:
    holding = sum(one.holds for one in comparisons)
    doubtful = {one.claim.id: one.doubt for one in comparisons if one.doubt}
    ranked = sum(
        one.status is OrderingStatus.HOLDS and not {one.better.id, one.worse.id} & doubtful.keys()
        for one in orderings
    )
    numbers = f"{holding} of {_many(len(comparisons), 'number')} hold"
    count = (
        f"{ranked} of {_many(len(orderings), 'ordering')} and {numbers}" if orderings else numbers
    )
    if why := _unmeasured(comparisons, runs):
        return Verdict.INCONCLUSIVE, why
    none = not holding and not ranked
    if stand_in:
        # Numbers that agree on other data agree by chance or because both are easy.
        drawn = "the data are a synthetic stand-in, so that says little about the paper"
        return (
            Verdict.INCONCLUSIVE,
            f"{'No claim holds' if none else count}, but {drawn}.",
        )
    reduced = f"only {share(scale)} of the paper's training was done" if scale < 1 else ""
    if reduced and none:
        return (
            Verdict.INCONCLUSIVE,
            f"No claim holds, but {reduced}, so that says little about the paper.",
        )
    if reduced:
        return Verdict.PARTLY, f"{count}, but {reduced}."
    if holding == len(comparisons) and ranked == len(orderings):
        return _all_hold(comparisons, orderings)
    open_ones = (OrderingStatus.UNDECIDED, OrderingStatus.UNMEASURED)
    tested = [one for one in orderings if one.status not in open_ones]
    if tested and all(one.status is OrderingStatus.FAILS for one in tested):
        turned = max(tested, key=lambda one: one.claimed)
        limits = f"{turned.measured:.3g}{turned.better.unit} [{turned.low:.3g}, {turned.high:.3g}]"
        words = f"measured {limits} over {_many(turned.n, 'seed')}"
        return Verdict.NOT, f"{count}. Not so: {turned} ({words})."
    agreeing = [one for one in comparisons if one.is_near and one.doubt]
    if none and agreeing:
        what = f"{len(agreeing)} of {_many(len(comparisons), 'number')} agree with the paper"
        return Verdict.INCONCLUSIVE, f"{what}, but {agreeing[0].doubt}."
    return (Verdict.NOT if none else Verdict.PARTLY), f"{count}{_doubt(comparisons, orderings)}."


def _unmeasured(comparisons: Compared, runs: bool) -> str:
    """Why there is nothing to judge; empty when there is."""
    if not runs:
        return "No version of the code runs, so nothing was measured."
    if not comparisons:
        return "The paper states no number for this task that could be compared."
    if any(one.measured is not None for one in comparisons):
        return ""
    refused = (one for one in comparisons if one.control is not None and one.control.refused)
    listed = "; ".join(f"{one.claim.id}: {one.note}" for one in refused)
    return f"No claim was measured. {listed}".strip()


def _all_hold(comparisons: Compared, orderings: Ordered) -> tuple[Verdict, str]:
    """Reproduced, unless a number that could have been seen is only the program's word."""
    also = " hold"
    if orderings:
        also = f" and {_many(len(orderings), 'ordering')} hold"
    alone = len(comparisons) == 1 and not orderings
    every = "The number holds"
    if not alone:
        every = f"All {_many(len(comparisons), 'number')}{also}"
    reported = [
        one for one in comparisons if one.control is not None and one.control.is_only_reported
    ]
    if reported:
        only = ", ".join(one.claim.id for one in reported)
        return Verdict.PARTLY, f"{every}, but {ONLY_REPORTED}: {only}."
    return Verdict.REPRODUCED, f"{every}."


def _doubt(comparisons: Compared, orderings: Ordered) -> str:
    """What could not be decided."""
    undecided = [one.n < 2 for one in orderings if one.status is OrderingStatus.UNDECIDED]
    parts = (
        (
            "not measured",
            sum(one.measured is None for one in comparisons),
            "number",
        ),
        (
            "agrees without a control that passed",
            sum(one.is_near and bool(one.doubt) for one in comparisons),
            "number",
        ),
        ("too noisy to decide", undecided.count(False), "ordering"),
        ("too few runs to decide", undecided.count(True), "ordering"),
    )
    listed = ", ".join(f"{why}: {_many(count, what)}" for why, count, what in parts if count)
    return f"; {listed}" if listed else ""


def _many(number: int, what: str) -> str:
    if number == 1:
        return f"{number} {what}"
    return f"{number} {what}s"
