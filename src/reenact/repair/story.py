"""Repair: diagnose, search within the budget, cut the best change down, judge it on fresh seeds.

program -> diagnosis -> what judges, on which data -> strategy -> minimise -> verify -> verdict and diff
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from reenact.diagnose.attempts import Attempts
from reenact.diagnose.depth import Depth
from reenact.diagnose.diagnosis import Accusation, Diagnosis
from reenact.diagnose.story import Services as DiagnoseServices
from reenact.diagnose.story import diagnose
from reenact.diagnose.suspect import Suspect
from reenact.diagnose.wishes import Wishes as DiagnoseWishes
from reenact.errors import Stopped
from reenact.journal import Journal
from reenact.llm.ask import Model
from reenact.program.patch import Patch
from reenact.program.program import Program
from reenact.repair.fitness import fit_for_repair, not_the_same_twice
from reenact.repair.judging import Judging, judging_by
from reenact.repair.minimise import Cut, smallest
from reenact.repair.strategies.strategy import strategy
from reenact.repair.study import book
from reenact.repair.verdict import Cost, Decision, Repair, Verdict
from reenact.repair.verify import FRESH, verify
from reenact.repair.wishes import WITHOUT_LIMIT, Wishes, spending
from reenact.repair.workbench import NOTHING, Look, Workbench
from reenact.trials.executor import Executor
from reenact.trials.metric import choose_measure
from reenact.trials.pool import ProcessPool
from reenact.trials.trial import Curve, Part, Trial
from reenact.types import Progress, Stop, Tell, tell_nobody

WITHOUT_STUDY = ("guided", "autotrainer", "autotrainer-scratch", "llm")
"""Strategies that ask no sampler: what they look at is written into a study of theirs."""
CHOOSING = 40
"""Seeds apart between two repairs with another chance."""
FOR_MINIMISING = 0.15
"""Share of the budget that the search leaves."""


@dataclass(frozen=True)
class Services:
    """What the story needs from outside."""

    journal: Journal
    traces: Path
    """Folder below which traces and studies are kept."""
    tell: Tell = tell_nobody
    stop: Stop = field(default_factory=Stop)
    stdout: int | IO[bytes] | None = None
    model: Model | None = None
    """For the strategy `llm`."""
    executor: Callable[[Wishes], Executor] | None = None
    """Another way to train; none: a pool of processes."""
    studies: bool = True
    """Keep the search as an Optuna study."""
    argv: Sequence[str] = ()
    fresh: bool = False


def repair(program: Program, wishes: Wishes, services: Services, known: Diagnosis | None = None) -> Repair:
    """The whole story; the same call after an interruption continues. `known` is a diagnosis of the program
    that somebody has already."""
    begun = time.monotonic()
    search = strategy(wishes.strategy)
    budget = spending(wishes.budget)
    asked = services.model.name if services.model is not None else None
    request = {"program": Trial(program).key, "model": asked, **wishes.to_json()}
    with services.journal.run(
        story="repair", request=request, argv=services.argv, what=str(program.entry), fresh=services.fresh
    ) as run:
        found = known or _diagnosed(program, wishes, services)
        trace = fit_for_repair(found)
        measure = choose_measure(trace, found.evidence.task, wishes.metric or None)
        make = services.executor or _pool
        with make(wishes) as executor:
            attempts = Attempts(
                program=program, executor=executor, measure=measure, spending=budget,
                one_training=trace.seconds, one_wall=trace.seconds,
                trials=run.under("trials"), stop=services.stop, seeds=_seeds(wishes.chance), part=Part.SEARCH,
            )  # fmt: skip
            weighed = attempts.weigh()
            judging = judging_by(measure, weighed)
            attempts = replace(attempts, measure=judging.search, part=judging.search_part)
            notes = [*not_the_same_twice(replace(attempts, paid=set(), cpu_seconds=0.0))]
            if known is None:
                attempts.cpu_seconds += attempts.one_training
            bench = Workbench(
                found.evidence, _suspects(found), attempts, wishes, services.tell,
                note=lambda look: run.note(f"best/{len(bench.looks)}", look.to_json()),
                studies=services.traces.parent / "studies" / run.record.id if services.studies else None,
                scratch=_folder(services.traces.parent / "weights" / run.record.id),
                model=services.model, questions=run.under("model"),
                at_once=_workers(wishes),
                reserve=FOR_MINIMISING * budget.trainings if budget.trainings < WITHOUT_LIMIT else 0.0,
            )  # fmt: skip
            if wishes.strategy in WITHOUT_STUDY:
                bench.write = book(bench.studies, bench.name)
            try:
                candidates = search.search(bench)
            except Stopped as stopped:
                raise _with_best(stopped, bench) from stopped
            cuts, verdicts = _settle(candidates, bench, judging, wishes, services, notes)
            final = verdicts[-1].patch if verdicts else NOTHING
            curves = _curves(final, bench) if verdicts else {}
        result = Repair(
            strategy=search.name,
            decision=_decision(verdicts, bench, found),
            patch=final,
            diff=final.diff(program),
            judging=judging,
            verdicts=verdicts,
            looks=tuple(bench.looks),
            cuts=tuple(cuts),
            cost=Cost(
                time.monotonic() - begun, len(attempts.paid), attempts.spent, attempts.one_training,
                2 * len(verdicts) * wishes.seeds,
            ),
            why=[_accused(one) for one in found.accusations],
            curves=curves,
            notes=(*notes, *found.notes),
        )  # fmt: skip
        run.finish(result.to_json(), result.decision.exit_code)
    return result


def _diagnosed(program: Program, wishes: Wishes, services: Services) -> Diagnosis:
    """A quick diagnosis, from the journal when there is one."""
    asked = DiagnoseWishes(
        depth=Depth.QUICK, select=wishes.select, ignore=wishes.ignore, metric=wishes.metric,
        python=wishes.python, max_time=wishes.max_time,
    )  # fmt: skip
    given = DiagnoseServices(
        journal=services.journal, traces=services.traces, tell=services.tell, stop=services.stop,
        stdout=services.stdout, argv=services.argv,
    )  # fmt: skip
    return diagnose(program, asked, given)


def _suspects(found: Diagnosis) -> tuple[Suspect, ...]:
    return tuple(one.suspect for one in (*found.accusations, *found.doubts))


def _settle(
    candidates: Sequence[Patch],
    bench: Workbench,
    judging: Judging,
    wishes: Wishes,
    services: Services,
    notes: list[str],
) -> tuple[list[Cut], tuple[Verdict, ...]]:
    """Cut the best candidate down, then judge it; the next one when it does not hold."""
    if not candidates:
        return [], ()
    services.tell(Progress("repair", note=f"minimise {candidates[0]}"))
    first, cuts, short = smallest(candidates[0], bench.leaving(0.0))
    notes += [short] if short else []
    make = services.executor or _as_it_is
    with make(wishes) as trainer:
        judge = replace(
            bench.attempts, executor=trainer, measure=judging.judge, part=judging.judge_part, paid=set(),
            cpu_seconds=0.0,
        )  # fmt: skip
        return cuts, verify([first, *candidates[1:]], judge, FRESH[: wishes.seeds], services.tell)


def _decision(verdicts: Sequence[Verdict], bench: Workbench, found: Diagnosis) -> Decision:
    if verdicts:
        return verdicts[-1].decision
    base = next((look.score for look in bench.looks if not look.patch and look.share == 1), None)
    good = base is not None and bench.attempts.bounded and base >= 1 - GOOD_MISSES
    return Decision.GOOD_ALREADY if good and found.clean else Decision.NOTHING_FOUND


GOOD_MISSES = 0.05
"""A bounded metric that misses no more than this performs well, when nothing accuses the training."""


def _curves(patch: Patch, bench: Workbench) -> dict[str, tuple[Curve, Curve]]:
    """Before and after, of one seed that was trained anyway."""
    before, after = (bench.outcome(one, bench.seeds[0]) for one in (NOTHING, patch))
    shared = [name for name in before.curves if name in after.curves]
    return {name: (before.curve(name), after.curve(name)) for name in shared}


def _with_best(stopped: Stopped, bench: Workbench) -> Stopped:
    best: Look | None = bench.best
    if best is None or not best.patch:
        return stopped
    value = best.score if bench.attempts.measure.larger_is_better else -best.score
    return Stopped(
        f"Stopped in the search. The best so far, not verified: {best.patch}"
        f" ({bench.attempts.measure.name} {value:.4g})."
    )


def _seeds(chance: int) -> tuple[int, ...]:
    first = 11 + CHOOSING * chance
    return tuple(range(first, first + 6))


def _folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def _accused(one: Accusation) -> str:
    suspect = one.suspect
    where = f" at {suspect.place}" if suspect.place is not None else ""
    return f"{suspect.first.code} {suspect.first.name}{where}: {suspect.first.saw}"


def _pool(wishes: Wishes) -> ProcessPool:
    """For the search: recognised Keras trainings run as bare loops."""
    return ProcessPool(workers=_workers(wishes), python=wishes.python, express=True)


def _as_it_is(wishes: Wishes) -> ProcessPool:
    """For the verdict: the program itself, as its user runs it."""
    return ProcessPool(workers=_workers(wishes), python=wishes.python)


def _workers(wishes: Wishes) -> int:
    return wishes.workers or os.cpu_count() or 1
