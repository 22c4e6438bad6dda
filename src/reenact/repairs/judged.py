"""Judged on fresh seeds: what the search has found, cut down, on top of what is kept already."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from reenact.errors import TimeSpent
from reenact.program.patch import Patch
from reenact.repairs.longer import without_longer
from reenact.repairs.minimise import ReductionStep, smallest
from reenact.repairs.proven import Kept, is_worse
from reenact.repairs.search_context import SearchContext
from reenact.repairs.verdict import Decision, Verdict
from reenact.trials.trainer import BudgetedTrainer
from reenact.trials.verify import Verification, verify
from reenact.types import Progress


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of the candidates of a search."""

    cuts: tuple[ReductionStep, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    notes: tuple[str, ...] = ()


def judged(
    candidates: Sequence[Patch],
    context: SearchContext,
    judge: BudgetedTrainer,
    seeds: Sequence[int],
) -> Judged:
    """Cut the best candidate down, then judge it; the next one when it does not hold."""
    if not candidates:
        return Judged()
    context.tell(Progress("repair", note=f"minimise {candidates[0]}"))
    # The search is over: what it had to leave may be used.
    context.reserve = 0.0
    try:
        first, longer = without_longer(candidates[0], context)
        first, cuts, short = smallest(first, context)
    except TimeSpent as error:
        return Judged(notes=(error.sentence, *best_so_far(context)))
    wanted = [first, *(one for one in candidates[1:] if one != first)]
    found, late = _verdicts_on(wanted, judge, seeds, context)
    return Judged(tuple(cuts), found, tuple(filter(None, (longer, short, late))))


def _verdicts_on(
    candidates: Sequence[Patch],
    judge: BudgetedTrainer,
    seeds: Sequence[int],
    context: SearchContext,
) -> tuple[tuple[Verdict, ...], str]:
    """Verdicts on the first candidates, until one holds, and what could not be verified in time.

    On top of fixes that are kept, a change must be better than those alone; what is reported then is
    what both come to together.
    """
    kept = context.kept

    def begin(patch: Patch) -> None:
        note = f"verify over up to {len(seeds)} fresh seeds: {patch}"
        context.tell(Progress("repair", note=note))

    patches = [kept + one for one in candidates]
    found, late = verify(patches, judge, seeds, begin=begin, base=kept)
    if kept and found and found[-1].holds:
        whole, late = verify([found[-1].patch], judge, seeds, begin=begin)
        found = (*found[:-1], *whole)
    unverified = f"Not verified: {patches[len(found)]}. {late.sentence}" if late else ""
    return tuple(verdict_of(one, judge) for one in found), unverified


def verdict_of(one: Verification, judge: BudgetedTrainer) -> Verdict:
    """Its samples are those of the metric as the program logs it; NaN for a failed training."""
    sign = 1 if judge.measure.larger_is_better else -1
    both = (one.comparison.before, one.comparison.after)
    before, after = (
        tuple(sign * x if math.isfinite(x) else math.nan for x in values) for values in both
    )
    decision = Decision.NOT_SIGNIFICANT
    if one.significant:
        decision = Decision.TOO_SMALL
    if one.significant and one.material:
        decision = Decision.RUNS_NOW
    if one.holds:
        well = judge.is_good_enough(median(one.comparison.after))
        decision = Decision.REPAIRED if well else Decision.IMPROVED
    return Verdict(
        patch=one.patch,
        seeds=one.seeds,
        before=before,
        after=after,
        comparison=one.comparison,
        p_value=one.p_value,
        decision=decision,
        shortfall=one.shortfall,
        detectable=one.detectable,
    )


def verdict_of_fixes(kept: Kept, judge: BudgetedTrainer) -> Verdict | None:
    """That on the fixes of proven faults: they hold unless the number, where it can tell, is worse."""
    if kept.verification is None:
        return None
    found = verdict_of(kept.verification, judge)
    if kept.by_its_check and (_moves(kept.verification, judge) or _proves(kept)):
        return replace(found, decision=Decision.REPAIRED)
    if not kept.comparable or not found.decision.helps:
        return replace(found, decision=Decision.FIXED)
    return found


def _moves(one: Verification, judge: BudgetedTrainer) -> bool:
    """Whether the number is another one without the fault, in either direction."""
    return one.holds or is_worse(one, judge)


def _proves(kept: Kept) -> bool:
    return any(one.is_proven and one.is_of_correctness for one in kept.causes)


def best_so_far(context: SearchContext) -> tuple[str, ...]:
    """In a sentence; nothing where no change was better than the unchanged program."""
    best = context.best
    if best is None or not best.patch:
        return ()
    measure = context.trainer.measure
    value = best.score if measure.larger_is_better else -best.score
    return (f"The best so far, not verified: {best.patch} ({measure.name} {value:.4g}).",)
