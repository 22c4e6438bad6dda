"""Control runs in the sandbox, and what they say about each measured number.

One run is observed as it is, at full scale and with the seed of a full run: it must give the same
numbers, it shows whether anything was trained, and its predictions are what a metric of a known
family is recomputed from. Then the updates are taken out, then the labels are permuted: first at
the scale of the dry run, next to an observed dry run; a number that is as good there is looked at
once more at full scale. A control that is worse than the trained number by more than the tolerance
of a claim has passed. A number that could not be recomputed must come out with seeds that no full
run had, too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from math import sqrt
from statistics import fmean

from pydantic import BaseModel, ValidationError

from reenact.codegen.project import METRICS, Project
from reenact.errors import ResultRefused
from reenact.journal import Scope
from reenact.paper.context import PaperContext, scale_arguments
from reenact.paper.develop.checks import metrics_in
from reenact.paper.measure.control import ControlStatus, NumberControl, Source, is_trained_for
from reenact.paper.measure.gap import Comparison, is_near, times, unmeasured
from reenact.paper.measure.recompute import Pass, Recomputed, family_of, recomputed
from reenact.paper.measure.runs import FullRun, values
from reenact.paper.review.claims import PaperClaim
from reenact.sandbox.files.results import read_json

INSIDE = (
    "observe.py",
    "observer.py",
    "frameworks.py",
    "predictions.py",
    "quantities.py",
)
"""What goes into the box."""
OWN = ".reenact"
RESULT = "result-WORD.json"
SLOWER = 2
"""Time that an observed run may take, as a multiple of that of a run."""
PLAIN = "plain"
NO_UPDATES = "no-updates"
PERMUTED = "permuted-labels"
OTHER_SEEDS = ("another-seed", "second-other-seed", "third-other-seed")
"""As it is, with seeds that no full run had: a program cannot have written down what it gives
there.
"""
ENOUGH = 3
"""Full runs from which on one other seed is enough: fewer say too little of how much seeds
differ.
"""
DRY = "dry run"
FULL = "full run"
FAR = 0.99
"""How surely other seeds must be worse (one-sided) to be no seeds like those of the full runs."""
NOTHING_TRAINED = "no step of an optimizer and no call of `update` of model.py was seen"


class Observed(BaseModel):
    """What our driver saw of one run."""

    torch: bool
    optimizers: list[str]
    steps: int
    by_hand: int
    """Times that parameters with gradients were changed without an optimizer."""
    updates: int
    """Calls of the project's `update`."""
    moved: bool
    """Whether any parameter has another value than before the first step."""
    permuted: int
    not_permuted: str
    predicted: int
    left_out: int
    passes: list[Pass]

    @property
    def trains(self) -> bool:
        """Whether there is a training that can be taken out."""
        return bool(self.steps or self.by_hand or self.updates)


@dataclass(frozen=True)
class ControlRun:
    """One run under our driver."""

    metrics: Mapping[str, float]
    observed: Observed | None
    """None where the run failed, or left nothing of ours."""
    why: str = ""
    """Why there is nothing; empty when there is."""


@dataclass
class Controls:
    """Control runs of one project, each made at most once, when it is first asked for."""

    project: Project
    seed: int
    """Of a full run that counts."""
    context: PaperContext
    run: Scope
    made: dict[tuple[str, str], ControlRun] = field(default_factory=dict)

    def get(self, mode: str, at: str) -> ControlRun:
        """The run of this mode at the scale of the dry run or of a full run."""
        if (mode, at) not in self.made:
            self.context.say(f"control: {at}, {mode}")
            self.made[mode, at] = self._run(mode, at)
        return self.made[mode, at]

    def _run(self, mode: str, at: str) -> ControlRun:
        runner = self.context.runner
        options = self.context.options
        package = files("reenact.paper.measure.inside")
        dry = ("--dry-run",) if at == DRY else ()
        seed = other_seed(self.project, mode) if mode in OTHER_SEEDS else self.seed
        limits = runner.limits(SLOWER * (runner.wall_s if at == DRY else options.run_wall_s))
        ran = runner.run(
            f"{mode}-{at.partition(' ')[0]}",
            self.run.under("control"),
            self.project.without(METRICS),
            (
                f"{OWN}/{INSIDE[0]}",
                "--seed",
                str(seed),
                *dry,
                *scale_arguments(options.scale),
            ),
            limits=limits,
            collect=(METRICS, RESULT),
            extra={f"{OWN}/{name}": package.joinpath(name).read_bytes() for name in INSIDE},
            task={"mode": mode},
        )
        if not ran.ok:
            return ControlRun({}, None, f"the control run failed: {ran.sentence}")
        metrics, wrong = metrics_in(ran)
        try:
            observed = Observed.model_validate(read_json(ran.results.get(RESULT, "").encode()))
        except (ResultRefused, ValidationError):
            return ControlRun(
                {}, None, "the control run ended before it could be observed to its end"
            )
        return ControlRun(metrics, observed, wrong)


def other_seed(project: Project, mode: str) -> int:
    """A seed that no one would list, always the same one for a project: a run can be continued."""
    drawn = hashlib.sha256(f"{project.identity} {mode}".encode()).hexdigest()
    return 1000 + int(drawn[:8], 16) % 1_000_000


def controlled(
    comparisons: Sequence[Comparison],
    runs: Sequence[FullRun],
    project: Project,
    context: PaperContext,
    run: Scope,
) -> tuple[Comparison, ...]:
    """Every measured number with its control; one that is not a measurement is not measured any
    more.
    """
    seeds = [one.seed for one in runs if one.ok and one.scale == context.options.scale]
    if not seeds:
        return tuple(comparisons)
    controls = Controls(project, seeds[0], context, run)
    found = []
    for one in comparisons:
        if one.measured is None:
            found.append(one)
            continue
        factor = times(
            one.claim,
            tuple(values(runs, one.metric).values()),
        )
        control = control_of(one, factor, controls)
        found.append(judged_by(one, control))
    return tuple(found)


def judged_by(one: Comparison, control: NumberControl) -> Comparison:
    """A comparison with its control: a number that is not a measurement is not measured any more."""
    if not control.refused:
        return replace(one, control=control)
    is_status = control.status is not ControlStatus.PASSED
    reason = control.status.value if is_status else control.source.value
    return unmeasured(
        one,
        f"Not measured: {reason}. {one.note}".strip(),
        control,
    )


def control_of(one: Comparison, factor: float, controls: Controls) -> NumberControl:
    """What the controls say of one number, cheapest first, up to the first that objects."""
    claim = one.claim
    if not is_trained_for(claim):
        return NumberControl(ControlStatus.NOT_NEEDED, Source.AS_REPORTED)
    plain = controls.get(PLAIN, FULL)
    if (
        plain.observed is None
        or one.metric not in plain.metrics
        or controls.seed not in one.by_seed
    ):
        why = plain.why or "the observed run, or the one like it, did not leave this metric"
        return NumberControl(ControlStatus.IMPOSSIBLE, Source.AS_REPORTED, why)
    number = plain.metrics[one.metric] * factor
    if not is_near(
        claim,
        one.by_seed[controls.seed],
        number,
        one.spread,
    ):
        why = (
            f"{one.by_seed[controls.seed]:.4g} alone, {number:.4g} when observed, with the same "
            f"seed"
        )
        return NumberControl(ControlStatus.OTHER, Source.AS_REPORTED, why)
    observed = plain.observed
    family = family_of(claim)
    source = recomputed(
        plain.metrics[one.metric],
        family,
        observed.passes,
    )
    base = _with_source(
        claim,
        factor,
        source,
        known=bool(family) and observed.torch,
    )
    if not observed.trains:
        return replace(base, status=ControlStatus.IMPOSSIBLE, why=NOTHING_TRAINED)
    if not observed.moved:
        why = f"{observed.steps} steps of {', '.join(observed.optimizers)}"
        return replace(base, status=ControlStatus.UNCHANGED, why=why)
    if source.source is Source.NOT_CONFIRMED:
        return base
    return _trained(
        base,
        Judged(one, factor, controls),
        is_known=bool(family),
    )


def _trained(base: NumberControl, judged: Judged, *, is_known: bool) -> NumberControl:
    """The number next to those without updates and with permuted labels. A metric of an unknown
    family may not depend on which prediction belongs to which label: that is reported, and refuses
    nothing.
    """
    without = judged.against(NO_UPDATES)
    base = replace(
        base,
        trained=without.trained,
        untrained=without.control,
        at=without.at,
    )
    if without.why:
        return replace(base, status=ControlStatus.IMPOSSIBLE, why=without.why)
    if without.as_good:
        return replace(base, status=ControlStatus.SAME)
    base = _permuted(base, judged, is_known=is_known)
    is_open = base.status is ControlStatus.PASSED and base.source is not Source.RECOMPUTED
    return _with_other_seeds(base, judged) if is_open else base


def _permuted(base: NumberControl, judged: Judged, *, is_known: bool) -> NumberControl:
    """With what came out while the labels were permuted."""
    permuted = judged.against(
        PERMUTED,
        possible=lambda seen: bool(seen.permuted),
    )
    if permuted.why:
        return replace(base, why=f"labels were not permuted: {permuted.why}")
    words = (
        f"{permuted.control:.4g} with labels permuted, {permuted.trained:.4g} trained "
        f"({permuted.at})"
    )
    base = replace(
        base,
        permuted=permuted.control,
        why="" if permuted.at == base.at else words,
    )
    if not permuted.as_good:
        return base
    if is_known:
        return replace(base, status=ControlStatus.PERMUTED)
    return replace(base, why=f"{words}: as good, which a metric of this kind may be")


def _with_other_seeds(base: NumberControl, judged: Judged) -> NumberControl:
    """With what came out for seeds that no full run had: not surely worse than the others, and
    better than without training.
    """
    one = judged.one
    modes = OTHER_SEEDS[:1] if len(one.by_seed) >= ENOUGH else OTHER_SEEDS
    ran = [judged.controls.get(mode, FULL) for mode in modes]
    numbers = [run.metrics[one.metric] * judged.factor for run in ran if one.metric in run.metrics]
    if not numbers:
        return base
    base = replace(base, other_seed=fmean(numbers))
    untrained = base.untrained if base.at == FULL else None
    is_lost = untrained is not None and as_good(
        one.claim,
        untrained,
        fmean(numbers),
        None,
    )
    if is_lost or are_far_worse(one, numbers):
        return replace(base, status=ControlStatus.SEED)
    return base


def are_far_worse(one: Comparison, numbers: Sequence[float]) -> bool:
    """Whether runs with other seeds are surely worse than those that were asked for (Student's t,
    pooled), and by more than the tolerance of a claim.
    """
    groups = [
        tuple(one.by_seed.values()),
        tuple(numbers),
    ]
    freedom = sum(map(len, groups)) - 2
    mean, other = map(fmean, groups)
    if freedom < 1 or as_good(one.claim, other, mean, one.spread):
        return False
    from scipy.stats import t

    squares = sum((value - fmean(group)) ** 2 for group in groups for value in group)
    reach = float(t.ppf(FAR, freedom)) * sqrt(
        squares / freedom * sum(1 / len(group) for group in groups)
    )
    return abs(other - mean) > reach


def _with_source(
    claim: PaperClaim,
    factor: float,
    source: Recomputed,
    *,
    known: bool,
) -> NumberControl:
    constant = None
    if source.constant is not None:
        constant = source.constant * factor
    return NumberControl(
        ControlStatus.PASSED,
        source.source,
        constant=constant,
        constant_is_as_good=constant is not None
        and as_good(claim, constant, claim.value, claim.spread),
        should_recompute=known,
    )


@dataclass(frozen=True, slots=True)
class Against:
    """A control next to the trained number at the same scale."""

    at: str
    trained: float | None = None
    control: float | None = None
    as_good: bool = False
    why: str = ""
    """Why there is no control; empty when there is."""


@dataclass(frozen=True)
class Judged:
    one: Comparison
    factor: float
    controls: Controls

    def against(
        self,
        mode: str,
        possible: Callable[[Observed], bool] = lambda _: True,
    ) -> Against:
        """At the scale of the dry run; where that shows no difference, at full scale."""
        dry = self._at(DRY, mode, possible)
        if dry.why or dry.as_good:
            return self._at(FULL, mode, possible)
        return dry

    def _at(
        self,
        at: str,
        mode: str,
        possible: Callable[[Observed], bool],
    ) -> Against:
        trained = self.controls.get(PLAIN, at)
        control = self.controls.get(mode, at)
        metric = self.one.metric
        if (
            control.observed is None
            or metric not in control.metrics
            or metric not in trained.metrics
        ):
            return Against(
                at,
                why=control.why or trained.why or "the control run did not leave this metric",
            )
        if not possible(control.observed):
            return Against(
                at,
                why=control.observed.not_permuted or "no rows of predictions were seen",
            )
        before = trained.metrics[metric] * self.factor
        after = control.metrics[metric] * self.factor
        return Against(
            at,
            before,
            after,
            as_good(self.one.claim, after, before, self.one.spread),
        )


def as_good(
    claim: PaperClaim,
    value: float,
    reference: float,
    spread: float | None,
) -> bool:
    """Better than the reference, or not worse than it by more than the tolerance by which a
    claim holds.
    """
    better = value >= reference if claim.higher_is_better else value <= reference
    return better or is_near(claim, reference, value, spread)
