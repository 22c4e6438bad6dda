"""The gap between a claim and what was measured, its grade, and the comparison of one claim.

Performance gap: the mean over claims of |ref - got| / max(ref, got), 1 where nothing was measured
(AutoReproduce, equation 1). The larger of the two is below, so that the gap of small values
stays within 1; for negative values sizes are compared, and no gap is larger than 1. Grades by
relative difference to the claim: A below 2 %, B below 20 %, C below 40 %, else D.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from statistics import fmean, stdev

from pydantic import BaseModel, Field

from reenact.paper.criterion import Category, Criterion, Judged, Value
from reenact.paper.measure.control import NumberControl
from reenact.paper.measure.runs import FullRun, values
from reenact.paper.options import share
from reenact.paper.review.claims import PaperClaim

HOLDS = 0.05
"""Relative difference within which a claimed number holds."""
WIDEST = 0.2
"""Share of a number up to which its plus-minus says how near is near enough."""


class Grade(StrEnum):
    """How near a measured value is."""

    A = "A"
    B = "B"
    C = "C"
    D = "D"
    NONE = "-"
    """Nothing was measured."""


class Match(BaseModel):
    """One claim and its metric."""

    claim: str = Field(max_length=20, description="Id of the claim, such as `C1`.")
    metric: str = Field(max_length=200, description="Name in metrics.json.")
    differs: list[str] = Field(
        default_factory=list,
        max_length=10,
        description="One sentence each: settings of this measure that are not those of the claim.",
    )


@dataclass(frozen=True, slots=True)
class Comparison:
    """One claim of the paper next to what was measured."""

    claim: PaperClaim
    metric: str
    """Name in metrics.json; empty when no metric is this claim."""
    measured: float | None
    """Mean over the runs, in the claim's unit."""
    spread: float | None
    """Standard deviation over the runs; none for fewer than two."""
    n: int
    gap: float
    grade: Grade
    differs: tuple[str, ...] = ()
    """Settings that are not those of the paper, a sentence each."""
    note: str = ""
    """Why nothing was measured, or what to know of it."""
    by_seed: Mapping[int, float] = field(default_factory=dict)
    """What each run that counts measured, in the claim's unit."""

    control: NumberControl | None = None
    """What became of it without training; none where no control was made."""

    @property
    def is_near(self) -> bool:
        """Near enough, or within the paper's own plus-minus, unless that is so wide that it
        says nothing.
        """
        if self.measured is None:
            return False
        if self.claim.bound:
            return self.better
        return is_near(
            self.claim,
            self.claim.value,
            self.measured,
            self.claim.spread,
        )

    @property
    def doubt(self) -> str:
        """Why it shows nothing though it agrees; empty where it does show something."""
        if self.control is not None and self.measured is not None:
            return self.control.doubt
        return ""

    @property
    def holds(self) -> bool:
        """Near enough, and not what comes out without training as well."""
        return self.is_near and not self.doubt

    @property
    def better(self) -> bool:
        """Whether the measured value is the better one."""
        above = 0.0
        if self.measured is not None:
            above = self.measured - self.claim.value
        if self.claim.higher_is_better:
            return above > 0
        return above < 0


def is_near(
    claim: PaperClaim,
    reference: float,
    got: float,
    spread: float | None,
) -> bool:
    """Whether a value of a claim's metric is the reference, by the tolerance with which claims
    hold. `spread`: of the reference; it excuses a difference where it is not so wide that it says
    nothing.
    """
    away = abs(got - reference)
    within = away <= (spread or 0.0) <= WIDEST * abs(reference)
    # 98 % and 94 % are near by size, but three times as many are wrong. One point is little of a
    # hundred whatever is left.
    is_share = claim.unit == "%" and claim.higher_is_better and reference <= 100
    most_off = max(100 - reference, 1.0) if is_share else float("inf")
    near = relative_difference(reference, got) < HOLDS
    return within or (near and away <= most_off)


def gap_of(reference: float, got: float | None) -> float:
    """Equation 1 for one claim, between 0 and 1."""
    if got is None or reference == got:
        return 1.0 if got is None else 0.0
    return min(1.0, abs(reference - got) / max(abs(reference), abs(got)))


def relative_difference(reference: float, got: float) -> float:
    """Difference by the size of the claim; against nought only nought is near."""
    if reference == 0:
        return 0.0 if got == 0 else float("inf")
    return abs(got - reference) / abs(reference)


def grade_of(reference: float, got: float | None) -> Grade:
    """A below 2 %, B below 20 %, C below 40 %, else D."""
    if got is None:
        return Grade.NONE
    relative = relative_difference(reference, got)
    limits = {
        Grade.A: 0.02,
        Grade.B: 0.2,
        Grade.C: 0.4,
    }
    for grade, below in limits.items():
        if relative < below:
            return grade
    return Grade.D


def settings_that_differ(
    criteria: Sequence[Criterion],
    judged: Sequence[Judged],
    scale: float,
    stand_in: str,
) -> tuple[str, ...]:
    """How the experiment is not the paper's, as far as is known: a sentence each."""
    failed = {one.criterion for one in judged if one.value is Value.FAIL}
    missed = [one for one in criteria if one.id in failed and one.category is Category.SETUP]
    other = []
    if scale < 1:
        other = [f"Only {share(scale)} of the paper's training was done."]
    if stand_in:
        other.append(f"The data are a synthetic stand-in: {stand_in}")
    return (
        *other,
        *(f"Not as the paper says: {one.fact} ({one.id})" for one in missed),
    )


def compare(
    claims: Sequence[PaperClaim],
    runs: Sequence[FullRun],
    pairs: Sequence[Match],
    *,
    differs: Sequence[str] = (),
) -> tuple[Comparison, ...]:
    """Every claim next to its measure. `differs`: what holds for all."""
    chosen = {pair.claim: pair for pair in pairs}

    def compared(claim: PaperClaim) -> Comparison:
        pair = chosen.get(claim.id)
        missing = partial(
            Comparison,
            claim,
            measured=None,
            spread=None,
            n=0,
            gap=1.0,
            grade=Grade.NONE,
        )
        if pair is None:
            return missing(metric="", note="No metric of the code is this claim.")
        measured = values(runs, pair.metric)
        by_seed = {
            seed: value * times(claim, tuple(measured.values())) for seed, value in measured.items()
        }
        got = list(by_seed.values())
        if not got:
            return missing(metric=pair.metric, note="No run that counts left this metric.")
        mean = fmean(got)
        same = len(got) > 1 and len(set(got)) == 1
        # Beyond a bound there is no distance to state.
        kept = bool(claim.bound) and (
            mean > claim.value if claim.bound == ">" else mean < claim.value
        )
        near = claim.value if kept else mean
        return Comparison(
            claim=claim,
            metric=pair.metric,
            measured=mean,
            spread=stdev(got) if len(got) > 1 else None,
            n=len(got),
            gap=gap_of(claim.value, near),
            grade=grade_of(claim.value, near),
            differs=tuple(dict.fromkeys((*differs, *pair.differs))),
            note="The same to the last digit for every seed: chance has no part in it."
            if same
            else "",
            by_seed=by_seed,
        )

    return tuple(map(compared, claims))


def unmeasured(one: Comparison, note: str, control: NumberControl | None = None) -> Comparison:
    """The comparison without its number, which is not a measurement."""
    return replace(
        one,
        measured=None,
        spread=None,
        n=0,
        gap=1.0,
        grade=Grade.NONE,
        by_seed={},
        note=note,
        control=control,
    )


def times(claim: PaperClaim, measured: Sequence[float]) -> float:
    """100 where the claim is in per cent and the measure a share: all of it is 0 to 1, the
    claim is not.
    """
    share = all(0 <= value <= 1 for value in measured)
    if claim.unit == "%" and share and claim.value > 1:
        return 100.0
    return 1.0


def mean_gap(comparisons: Sequence[Comparison], *, executed: bool = False) -> float | None:
    """Over all claims, a missing measure counting 1; or over those that were measured. None
    without any.
    """
    counted = [one.gap for one in comparisons if one.measured is not None or not executed]
    return fmean(counted) if counted else None
