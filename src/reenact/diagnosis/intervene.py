"""Intervention: change the suspects, train, keep what helps, then judge it on seeds that chose
nothing.

What is proven or strongly suspected is changed at once first: outside of text books several faults
hide each other. A joint change that helps is cut down to what is needed; where it does not help,
suspects are changed one by one. What remains is trained over fresh seeds against the program as it
is, and only a significant improvement confirms it. One metric judges, and it is chosen before
any of these seeds is trained: where the program learns nothing at all and no change moves the
metric on the screening seeds, that is the fall of the training loss.

A trial has four outcomes. A significant difference that is not an improvement is "runs now". What was
not confirmed is refuted only where a difference could have been seen and was shown to be none; else
it is undecided, and what was believed before holds. Proof always holds.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from reenact.diagnosis import candidates
from reenact.diagnosis.candidates import (
    STRONG,
    Candidate,
    Joint,
    Screened,
    Screening,
    whole,
)
from reenact.errors import TimeSpent
from reenact.faults.finding import Finding
from reenact.faults.observation import Certainty
from reenact.faults.tried import ChangeEffect, InterventionResult
from reenact.program.patch import Patch
from reenact.trials.metric import LEARNING, LEARNS, Measure, least_gain
from reenact.trials.statistics import gains_less_than
from reenact.trials.trainer import BudgetedTrainer
from reenact.trials.verify import verify
from reenact.types import Progress

FRESH_SEEDS = tuple(range(101, 141))
"""Seeds that judge; none of them chooses."""
REFUTING_SEEDS = 4
LOOKED_AT_AGAIN = 2
MUCH = 0.25
"""Share of what is left to gain that changing a slight suspect must bring."""
NO_DIFFERENCE = 0.15
"""A gain that surely lies below this share of what is left to gain is not one."""
SURE = 0.9
"""A suspect as likely as this stays a finding when another change was confirmed and this one
helped too.
"""


def intervene(
    suspects: Sequence[Finding], screening: Screening, *, threshold: float
) -> tuple[list[Finding], list[str]]:
    """Every suspect, a finding that may be a cause, with what trying it has shown, and remarks on
    what could not be tried.
    """
    trainer = screening.trainer
    metric = trainer.measure
    tried = _screened(suspects, screening)
    if not tried.options and not tried.remarks and not _learns(screening):
        trainer.judge_by(LEARNING, trainer.part)
        again = _screened(suspects, screening)
        if again.options or not tried.candidates:
            tried = again
            tried.remarks.append(
                f"Judged by {LEARNING.name}, the fall of the training loss: the program learns "
                f"nothing, and no change moved {metric.name} on the screening seeds."
            )
        else:
            trainer.judge_by(metric, trainer.part)
    _verify(tried, screening)
    findings = [_judged(one, tried, trainer.measure, threshold) for one in suspects]
    if not tried.candidates:
        return findings, []
    findings = _refuted(findings, tried, screening, threshold)
    well = trainer.is_good_enough(tried.base)
    return [_weighed(one, threshold, trainer, well=well) for one in findings], tried.remarks


@dataclass
class _Tried:
    """What changing the suspects has shown, as far as one metric reports."""

    candidates: list[Candidate]
    base: float = float("-inf")
    screened: list[Screened] = field(default_factory=list)
    helpful: list[Screened] = field(default_factory=list)
    adds: Joint = ()
    options: list[Joint] = field(default_factory=list)
    """What is worth verifying, the best first; empty where nothing helped."""
    verified: list[tuple[Joint, ChangeEffect]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    @property
    def confirmed(self) -> Joint:
        """The changes that were confirmed together."""
        return next(
            (option for option, effect in self.verified if effect.confirmed),
            (),
        )


def _screened(suspects: Sequence[Finding], screening: Screening) -> _Tried:
    """Jointly, then one by one where that did not help, on the screening seeds alone."""
    trainer = screening.trainer
    tell = screening.tell
    tried = _Tried(candidates.candidates_of(suspects, screening))
    if not tried.candidates:
        return tried
    try:
        (tried.base,) = screening.scores([Patch(())])
        chosen = _together(tried, screening)
        if not chosen:
            count = len({one.suspect.key for one in tried.candidates})
            tell(
                Progress(
                    "diagnose",
                    3,
                    5,
                    f"change {count} suspects, one by one",
                )
            )
            scores = screening.scores(
                [one.patch for one in tried.candidates],
                against=tried.base,
            )
            tried.screened = list(map(Screened, tried.candidates, scores))
            better = [one for one in tried.screened if trainer.improves(tried.base, one.score)]
            tried.helpful = candidates.ranked(better, tried.base, trainer)
            tried.base, tried.helpful = _second_look(tried.base, tried.helpful, screening)
            chosen, tried.adds = candidates.grow(
                tried.base, tried.screened, tried.helpful, screening
            )
        else:
            tried.adds = candidates.what_adds(chosen, tried.candidates, screening)
        tried.options = [chosen] if chosen else []
        tried.options += [(one.candidate,) for one in tried.helpful if (one.candidate,) != chosen]
    except TimeSpent as error:
        if not tried.screened and not tried.helpful:
            raise
        tried.remarks = [_not_verified(error)]
    return tried


def _together(tried: _Tried, screening: Screening) -> Joint:
    """All that is proven or strongly suspected at once: what is needed of it when that helps."""
    firm = [one for one in tried.candidates if one.suspect.certainty is not Certainty.HINT]
    change = candidates.joint((), firm, screening.applies)
    if len(change) < 2 or not screening.leaves_enough(screening.cost(whole(change))):
        return ()
    screening.tell(
        Progress(
            "diagnose",
            3,
            5,
            f"change {len(change)} suspects at once",
        )
    )
    (score,) = screening.scores([whole(change)])
    if not screening.trainer.improves(tried.base, score):
        return ()
    return candidates.cut(tried.base, score, change, screening)


def _learns(screening: Screening) -> bool:
    """Whether the unchanged program learns anything, by its training loss; so too where
    no one can say.
    """
    trainer = screening.trainer
    outcome = trainer.outcomes(
        [
            trainer.trial(
                Patch(()),
                trainer.seeds[0],
            )
        ]
    )[0]
    fall = LEARNING.read(outcome)
    return outcome.trained and (fall is None or fall >= LEARNS)


def _second_look(
    base: float, helpful: list[Screened], screening: Screening
) -> tuple[float, list[Screened]]:
    """Luck has chosen among several? Look again at the first few, on more seeds."""
    trainer = screening.trainer
    front = helpful[: LOOKED_AT_AGAIN * screening.plan.screening_seeds]
    cost = sum(screening.cost(one.candidate.patch) for one in front) + 1
    if len(front) < 2 or not screening.leaves_enough(cost):
        return base, helpful
    base, *scores = screening.scores(
        [Patch(()), *(one.candidate.patch for one in front)],
        looks=2,
    )
    again = [replace(one, score=score) for one, score in zip(front, scores, strict=True)]
    held = [one for one in again if trainer.improves(base, one.score)]
    return base, candidates.ranked(held, base, trainer)


def _not_verified(error: TimeSpent) -> str:
    return f"What helped in a first look was not verified. {error.sentence}"


def _verify(tried: _Tried, screening: Screening) -> None:
    """Judge the chosen change on fresh seeds; the next best single one when it does not hold."""
    options = tried.options
    trainer = screening.trainer
    seeds = FRESH_SEEDS[: screening.plan.seeds]

    def begin(patch: Patch) -> None:
        screening.tell(
            Progress(
                "diagnose",
                5,
                5,
                f"verify over up to {len(seeds)} fresh seeds: {patch}",
            )
        )

    results, late = verify(
        [whole(option) for option in options], trainer, seeds, begin=begin, counted=True
    )
    if late is not None and not results:
        if not tried.screened and not tried.helpful:
            raise late
        tried.remarks.append(_not_verified(late))
    for option, one in zip(options, results, strict=False):
        effect = ChangeEffect(
            patch=one.patch,
            metric=trainer.measure.name,
            larger_is_better=trainer.measure.larger_is_better,
            before=one.comparison.before,
            after=one.comparison.after,
            p_value=one.p_value,
            confirmed=one.holds,
            cpu_seconds=one.cpu_seconds,
            shortfall=one.shortfall if one.material else "",
            detectable=one.detectable,
        )
        tried.verified.append((option, effect))


def _judged(suspect: Finding, tried: _Tried, measure: Measure, threshold: float) -> Finding:
    """What trying a suspect has shown so far: confirmed, runs now, or undecided with the reason."""
    key = suspect.key
    effects = {one.suspect.key: effect for option, effect in tried.verified for one in option}
    effect = effects.get(key)
    if effect is not None and effect.confirmed:
        return suspect.confirmed(effect)
    if not any(one.suspect.key == key for one in tried.candidates):
        return suspect
    if effect is not None and effect.shortfall:
        runs = InterventionResult.RUNS_NOW
        return replace(suspect, status=runs, tried=effect, note=effect.shortfall)
    undecided = replace(suspect, status=InterventionResult.UNDECIDED, tried=effect)
    if effect is not None:
        return undecided
    return _looked_at(undecided, tried, measure, threshold)


def _looked_at(suspect: Finding, tried: _Tried, measure: Measure, threshold: float) -> Finding:
    """What the first look at a suspect has shown, which was not verified: undecided, with the
    reason.
    """
    key = suspect.key
    looks = [one for one in tried.screened if one.candidate.suspect.key == key]
    best = max(looks, key=lambda one: one.score, default=None)
    if best is not None:
        one_seed = ChangeEffect(
            patch=best.candidate.patch,
            metric=measure.name,
            larger_is_better=measure.larger_is_better,
            before=(tried.base,),
            after=(best.score,),
        )
        suspect = replace(suspect, tried=one_seed)
    if tried.confirmed and any(one.suspect.key == key for one in tried.adds):
        return replace(suspect, note="changing it as well helped more, in a first look")
    if any(one.candidate.suspect.key == key for one in tried.helpful):
        if not tried.confirmed:
            return replace(suspect, note="helped in a first look")
        instead = "changing this instead helped too, in a first look"
        if suspect.suspicion < SURE and suspect.certainty is not Certainty.PROOF:
            return suspect.demoted(threshold, instead)
        return replace(suspect, note=instead)
    if best is None:
        if suspect.certainty is Certainty.HINT:
            return replace(suspect, status=InterventionResult.UNTRIED)
        return replace(suspect, note="the joint change that helped does not need it")
    return replace(
        suspect,
        note="changing it did not help in a first look, which decides nothing",
    )


def _refuted(
    findings: list[Finding],
    tried: _Tried,
    screening: Screening,
    threshold: float,
) -> list[Finding]:
    """Spend what is left on those that would be reported though nothing confirmed them.

    A change that makes no difference on top of what was confirmed is refuted, or that of the
    unchanged program where it learns and knows more than the most frequent class. Next to a fault
    that is proven and cannot be changed nothing else can help, and nothing is refuted.
    """
    changeable = {one.suspect.key for one in tried.candidates}
    proven = {one.key for one in findings if one.certainty is Certainty.PROOF}
    able = _learns(screening) and screening.trainer.is_above_guessing(tried.base)
    if not tried.confirmed and (proven - changeable or not able):
        return findings
    helped = {one.candidate.suspect.key for one in tried.helpful} | {
        one.suspect.key for one in tried.adds
    }

    def is_open(one: Finding) -> bool:
        undecided = one.status is InterventionResult.UNDECIDED and one.key not in proven | helped
        return undecided and one.confidence >= threshold and not one.is_opinion

    return [_refute(one, tried, screening) if is_open(one) else one for one in findings]


def _refute(one: Finding, tried: _Tried, screening: Screening) -> Finding:
    trainer = screening.trainer
    seeds = FRESH_SEEDS[:REFUTING_SEEDS]
    context = whole(tried.confirmed)
    change = next(each for each in tried.candidates if each.suspect.key == one.key).patch
    both = context + change
    if not trainer.applies(both) or not trainer.within_budget(
        trainer.cost(both, len(seeds)) + len(seeds)
    ):
        return one
    try:
        before, after = trainer.samples([context, both], seeds)
    except TimeSpent:
        return one
    beside = str(context) if context.changes else ""
    effect = ChangeEffect(
        patch=change,
        metric=trainer.measure.name,
        larger_is_better=trainer.measure.larger_is_better,
        before=before,
        after=after,
        on_top_of=beside,
    )
    margin = least_gain(
        median(before),
        bounded=trainer.bounded,
        share=NO_DIFFERENCE,
    )
    if not gains_less_than(margin, before, after):
        note = f"changing it made no clear difference over {len(seeds)} seeds"
        return replace(one, tried=effect, note=note)
    note = (
        f"changing it makes no difference: surely less than {margin:.2g} of {trainer.measure.name}"
    )
    return one.refuted(effect, note)


def _weighed(one: Finding, threshold: float, trainer: BudgetedTrainer, *, well: bool) -> Finding:
    """Nearly every training can be made a little better. What was only slightly suspected is at
    fault when changing it helps much, and the training does not do well as it is; else it is
    tuning.
    """
    effect = one.tried
    slight = one.suspicion < STRONG and one.certainty is not Certainty.PROOF
    if one.status is not InterventionResult.CONFIRMED or not slight or effect is None:
        return one
    if not well and trainer.improves(
        median(effect.before),
        median(effect.after),
        share=MUCH,
    ):
        return one
    why = (
        "the training does well as it is" if well else "not much, and little else speaks against it"
    )
    return one.demoted(threshold, f"changing it helps, but {why}")
