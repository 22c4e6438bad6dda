"""Repair: diagnose, search within the budget, cut the best change down, judge it on fresh seeds.

program -> diagnosis -> what judges, on which data -> strategy -> minimise -> verify -> verdict and
diff
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from reenact.diagnosis.diagnosis import Diagnosis
from reenact.diagnosis.judgement import Judgement, on_stand_in
from reenact.diagnosis.options import Depth, DiagnoseOptions
from reenact.diagnosis.pipeline import diagnose_within
from reenact.errors import Stopped, TimeSpent
from reenact.journal import Scope
from reenact.program.patch import Patch
from reenact.program.program import Program
from reenact.repairs.again import SeenAgain, remaining, watch_again
from reenact.repairs.causes import Cause, causes_of, takes_away
from reenact.repairs.claimed import Claimed, claimed
from reenact.repairs.judged import best_so_far, judged, verdict_of_fixes
from reenact.repairs.options import RepairOptions
from reenact.repairs.prepare import (
    RepairServices,
    against_crash,
    fit_for_repair,
    judging_seeds,
    prepare,
)
from reenact.repairs.proven import Kept, ProvenFaults, is_settled_by, on_top_of
from reenact.repairs.search_context import NOTHING, SearchContext
from reenact.repairs.strategies.strategy import Strategy, strategy
from reenact.repairs.verdict import (
    BeforeAfter,
    Decision,
    Repair,
    Verdict,
    deciding,
)
from reenact.trials.failed import why_failed
from reenact.trials.metric import STEP_LOSS
from reenact.trials.trainer import BudgetedTrainer
from reenact.trials.trial import Trial

CAUSES_FIRST = frozenset({"guided"})
"""Strategies before which the fixes of proven faults are tried; the others are as published."""
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
        judge = context.trainer.apart(measure=judging.judge, part=judging.judge_part)
        seeds = judging_seeds(options.chance, options.seeds)
        causes = causes_of(found, program)
        watch = _watching(context, options, run)
        kept, late = _proven_first(search, causes, context, judge, seeds, watch)
        candidates: list[Patch] = []
        of_claims = Claimed()
        if not late and not is_settled_by(kept, causes, context, judge):
            on_top_of(kept, context)
            if not kept.fixes:
                of_claims = claimed(found, options, services, run.under("claims-again"), judge)
            if of_claims.verdict is None:
                candidates, late = _searched(search, context)
        of_search = judged(candidates, context, judge, seeds)
        of_fixes = verdict_of_fixes(kept, judge)
        before = [one for one in (of_fixes, of_claims.verdict) if one is not None]
        verdicts = (*before, *of_search.verdicts)
        decided = deciding(verdicts)
        final = decided.patch if decided is not None else NOTHING
        fixed, left = _faults_after(final, causes, kept, program, watch)
        curves = _curves(final, context) if verdicts else {}
        in_time = not late and (not candidates or bool(of_search.verdicts))
        verifying = 2 * sum(len(one.seeds) for one in verdicts)
    helps = decided is not None and decided.decision.helps
    result = Repair(
        strategy=search.name,
        decision=Decision.FAULT_REMAINS
        if helps and left
        else _decision(decided, context, found, in_time=in_time),
        patch=final,
        diff=final.diff(program),
        judging=judging,
        verdicts=verdicts,
        fixed_faults=tuple(one.fault for one in fixed),
        remaining_faults=tuple(one.fault for one in left),
        withdrawn=tuple(one.fault for one in kept.withdrawn),
        failed_as_is=_failed_as_is(context),
        by_its_check=any(one.is_of_correctness for one in fixed),
        looks=tuple(context.evaluations),
        cuts=of_search.cuts,
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
            *of_search.notes,
            *kept.notes,
            *of_claims.notes,
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


def _watching(
    context: SearchContext, options: RepairOptions, run: Scope
) -> Callable[[Patch], SeenAgain]:
    """What watches a changed program, with the detectors of the diagnosis."""
    asked = DiagnoseOptions(select=options.select, ignore=options.ignore)
    return lambda patch: watch_again(patch, context.trainer, asked, run.under("again"))


def _proven_first(
    search: Strategy,
    causes: tuple[Cause, ...],
    context: SearchContext,
    judge: BudgetedTrainer,
    seeds: tuple[int, ...],
    watch: Callable[[Patch], SeenAgain],
) -> tuple[Kept, tuple[str, ...]]:
    """The fixes of proven faults, before anything is searched; nothing for the strategies of others,
    and for a program that does not train as it is. A note where the time was up.
    """
    if search.name not in CAUSES_FIRST or context.begun_with is None:
        return Kept(), ()
    losses = context.trainer.outcomes([context.begun_with])[0].curve(STEP_LOSS)
    proven = ProvenFaults(
        causes,
        context.program,
        judge,
        seeds,
        watch,
        losses[0][1] if losses else None,
        context.tell,
    )
    try:
        return proven.fixed(), ()
    except TimeSpent as error:
        return Kept(), (error.sentence,)


def _faults_after(
    final: Patch,
    causes: Sequence[Cause],
    kept: Kept,
    program: Program,
    watch: Callable[[Patch], SeenAgain],
) -> tuple[tuple[Cause, ...], tuple[Cause, ...]]:
    """The proven faults that a change takes away, and those that are still there."""
    there = [one for one in causes if one not in kept.withdrawn]
    proven = tuple(one for one in there if one.is_proven)
    if not there or not final:
        return (), proven
    seen = kept.seen if final == kept.patch and kept.seen is not None else watch(final)
    left = remaining(there, final, seen, program)
    gone = tuple(one for one in there if one not in left and takes_away(final, one))
    return gone, tuple(one for one in left if one.is_proven)


def _searched(search: Strategy, context: SearchContext) -> tuple[list[Patch], tuple[str, ...]]:
    """What the strategy finds; stopped, the best so far is named. Nothing is found when the
    time is up.
    """
    try:
        return search.search(context), ()
    except TimeSpent as error:
        return [], (error.sentence, *best_so_far(context))
    except Stopped as stopped:
        for best in best_so_far(context):
            raise Stopped(f"Stopped in the search. {best}") from stopped
        raise


def _decision(
    decided: Verdict | None,
    context: SearchContext,
    found: Diagnosis,
    *,
    in_time: bool,
) -> Decision:
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


def _failed_as_is(context: SearchContext) -> str:
    """Why the program has no value of the metric; empty where it has one."""
    if context.begun_with is None:
        return ""
    (outcome,) = context.trainer.outcomes([context.begun_with])
    return why_failed(outcome, context.trainer.measure)


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
