"""Repair: diagnose, search within the budget, cut the best change down, judge it on fresh seeds.

program -> diagnosis -> what judges, on which data -> strategy -> minimise -> verify -> verdict and
diff
"""

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from reenact.diagnosis.diagnosis import Diagnosis
from reenact.diagnosis.judgement import Judgement, on_stand_in
from reenact.diagnosis.options import Depth, DiagnoseOptions
from reenact.diagnosis.pipeline import diagnose_within
from reenact.errors import Stopped, TimeSpent
from reenact.journal import Scope
from reenact.program.patch import Patch
from reenact.program.program import Program
from reenact.repairs.minimise import ReductionStep, smallest
from reenact.repairs.options import RepairOptions
from reenact.repairs.prepare import (
    RepairServices,
    against_crash,
    fit_for_repair,
    judging_seeds,
    prepare,
)
from reenact.repairs.search_context import NOTHING, SearchContext
from reenact.repairs.strategies.strategy import Strategy, strategy
from reenact.repairs.verdict import (
    BeforeAfter,
    Decision,
    Judging,
    Repair,
    Verdict,
    deciding,
)
from reenact.trials.trainer import BudgetedTrainer
from reenact.trials.trial import Trial
from reenact.trials.verify import Verification, verify
from reenact.types import Progress, Tell

FEWER_DATA = "First looks trained on a share of the training data; whole trainings decided."


def repair(
    program: Program,
    options: RepairOptions,
    services: RepairServices,
    known: Diagnosis | None = None,
) -> Repair:
    """All of it, as a run of its own; the same call after an interruption continues it, after a
    finished one it is made again. `known` is a diagnosis of the program that somebody has already.
    """
    strategy(options.strategy)
    _ = options.allowed
    asked = services.model.name if services.model is not None else None
    request = {
        **Trial(program).identity,
        "model": asked,
        **options.to_json(),
    }
    with services.open_run("repair", program, request) as run:
        result = repair_within(program, options, services, run, known)
        result = replace(
            result,
            reused=services.reused_line(run, result.cost.trainings),
        )
        verdict = {"decision": result.decision.value, "sentence": result.sentence}
        short = {**verdict, "metric": result.in_numbers}
        run.finish(short, result.decision.exit_code, reused=result.reused)
    return result


def repair_within(
    program: Program,
    options: RepairOptions,
    services: RepairServices,
    run: Scope,
    known: Diagnosis | None,
) -> Repair:
    """The same as steps of a run that somebody else has opened."""
    begun = time.monotonic()
    search = strategy(options.strategy)
    # Opened first: a cluster that cannot be reached is known before the program is trained.
    with services.open_executor(
        options.workers, options.python, options.executor, options.data
    ) as executor:
        found = known or _diagnosed(program, options, services, run)
        trace = None if against_crash(found) else fit_for_repair(found)
        given = prepare(
            program,
            found,
            trace,
            options,
            services,
            executor,
            run,
            watched=known is None,
        )
        context, judging, notes = given
        candidates, late = _searched(search, context)
        cuts, verdicts, short = _settle(
            candidates,
            context,
            judging,
            options,
            services,
        )
        decided = deciding(verdicts)
        final = decided.patch if decided is not None else NOTHING
        curves = _curves(final, context) if verdicts else {}
        in_time = not late and (not candidates or bool(verdicts))
        verifying = 2 * sum(len(one.seeds) for one in verdicts)
    result = Repair(
        strategy=search.name,
        decision=_decision(verdicts, context, found, in_time=in_time),
        patch=final,
        diff=final.diff(program),
        judging=judging,
        verdicts=verdicts,
        looks=tuple(context.evaluations),
        cuts=tuple(cuts),
        cost=replace(
            context.trainer.usage,
            seconds=time.monotonic() - begun,
            verifying=verifying,
        ),
        why=[
            on_stand_in(found.stand_in_data, f"{one.in_a_line()}: {one.saw}")
            for one in found.findings
        ],
        stand_in_data=found.stand_in_data,
        curves=curves,
        stopped_by_user=services.stop.verdict_asked,
        notes=(
            *notes,
            *filter(None, [context.trainer.pruning_note]),
            *((FEWER_DATA,) if context.fewer_data else ()),
            *late,
            *short,
            *executor.notes,
            *found.notes,
        ),
    )
    run.note("result", result)
    return result


def _diagnosed(
    program: Program,
    options: RepairOptions,
    services: RepairServices,
    run: Scope,
) -> Diagnosis:
    """A quick diagnosis, part of this run: continued, the program is not watched again, and a model
    that was named is not asked again.
    """
    asked = DiagnoseOptions(
        depth=Depth.QUICK,
        select=options.select,
        ignore=options.ignore,
        metric=options.metric,
        python=options.python,
        training_time=options.training_time,
        stand_in_data=options.stand_in_data,
        samples=options.samples,
    )
    return diagnose_within(program, asked, services, run.under("diagnosis"), None)


def _searched(search: Strategy, context: SearchContext) -> tuple[list[Patch], tuple[str, ...]]:
    """What the strategy finds; stopped, the best so far is named. Nothing is found when the
    time is up.
    """
    try:
        return search.search(context), ()
    except TimeSpent as error:
        return [], (error.sentence, *_best_so_far(context))
    except Stopped as stopped:
        for best in _best_so_far(context):
            raise Stopped(f"Stopped in the search. {best}") from stopped
        raise


def _best_so_far(context: SearchContext) -> tuple[str, ...]:
    """In a sentence; nothing where no change was better than the program as it stands."""
    best = context.best
    if best is None or not best.patch:
        return ()
    measure = context.trainer.measure
    value = best.score if measure.larger_is_better else -best.score
    return (f"The best so far, not verified: {best.patch} ({measure.name} {value:.4g}).",)


def _settle(
    candidates: Sequence[Patch],
    context: SearchContext,
    judging: Judging,
    options: RepairOptions,
    services: RepairServices,
) -> tuple[list[ReductionStep], tuple[Verdict, ...], tuple[str, ...]]:
    """Cut the best candidate down, then judge it; the next one when it does not hold."""
    if not candidates:
        return [], (), ()
    services.tell(
        Progress(
            "repair",
            note=f"minimise {candidates[0]}",
        )
    )
    # The search is over: what it had to leave may be used.
    context.reserve = 0.0
    try:
        first, cuts, short = smallest(candidates[0], context)
    except TimeSpent as error:
        return [], (), (error.sentence, *_best_so_far(context))
    judge = context.trainer.apart(
        measure=judging.judge,
        part=judging.judge_part,
    )
    seeds = judging_seeds(options.chance, options.seeds)
    verdicts, late = verdicts_on(
        [first, *candidates[1:]],
        judge,
        seeds,
        services.tell,
    )
    return cuts, verdicts, tuple(note for note in (short, late) if note)


def verdicts_on(
    candidates: Sequence[Patch],
    judge: BudgetedTrainer,
    seeds: Sequence[int],
    tell: Tell,
) -> tuple[tuple[Verdict, ...], str]:
    """Verdicts on the first candidates, until one holds, and what could not be verified in time."""

    def begin(patch: Patch) -> None:
        tell(
            Progress(
                "repair",
                note=f"verify over up to {len(seeds)} fresh seeds: {patch}",
            )
        )

    found, late = verify(candidates, judge, seeds, begin=begin)
    unverified = (
        f"Not verified: {candidates[len(found)]}. {late.sentence}" if late is not None else ""
    )
    return tuple(_verdict(one, judge) for one in found), unverified


def _verdict(one: Verification, judge: BudgetedTrainer) -> Verdict:
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


def _decision(
    verdicts: Sequence[Verdict],
    context: SearchContext,
    found: Diagnosis,
    *,
    in_time: bool,
) -> Decision:
    decided = deciding(verdicts)
    if decided is not None:
        return decided.decision
    if not in_time:
        return Decision.NOT_DECIDED
    base = next(
        (look.score for look in context.evaluations if not look.patch and look.share == 1),
        None,
    )
    good = base is not None and context.trainer.bounded and context.trainer.is_good_enough(base)
    if good and found.judgement is Judgement.SOUND:
        return Decision.GOOD_ALREADY
    return Decision.NOTHING_FOUND


def _curves(patch: Patch, context: SearchContext) -> dict[str, BeforeAfter]:
    """Before and after, of one seed that was trained anyway."""
    try:
        before, after = (context.outcome(one, context.seeds[0]) for one in (NOTHING, patch))
    except TimeSpent:
        return {}
    shared = [name for name in before.curves if name in after.curves]
    return {
        name: BeforeAfter(
            before.curve(name),
            after.curve(name),
        )
        for name in shared
    }
