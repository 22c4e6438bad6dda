"""Runs strategies on the faults: references once, then every strategy, budget and repeat, journalled.

All runs of one fault share its diagnosis and its trainings: no configuration is trained twice.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reenact.bench.faults.case import FaultCase, Scale, Side
from reenact.bench.faults.programs import availability, materialise
from reenact.bench.identity import code_identity
from reenact.bench.repairs.card import scorecard
from reenact.bench.repairs.figures import Fault
from reenact.bench.repairs.repaired import Reference, Repaired, jaccards
from reenact.bench.scorecard import Scorecard
from reenact.bench.several import several
from reenact.diagnose.depth import Depth
from reenact.diagnose.diagnosis import Diagnosis
from reenact.diagnose.story import Services as DiagnoseServices
from reenact.diagnose.story import diagnose
from reenact.diagnose.wishes import Wishes as DiagnoseWishes
from reenact.journal import Journal
from reenact.program.knobs import knobs_of
from reenact.program.program import Program, read_program
from reenact.repair.judging import judging_by
from reenact.repair.services import Services
from reenact.repair.story import repair
from reenact.repair.verify import FRESH
from reenact.repair.wishes import Wishes
from reenact.trials.cache import Cached, FolderStore
from reenact.trials.executor import Executor
from reenact.trials.metric import choose_measure
from reenact.trials.pool import ProcessPool
from reenact.trials.statistics import oriented
from reenact.trials.trial import Part, Trial
from reenact.types import Stop, Tell, tell_nobody


@dataclass(frozen=True)
class Plan:
    """What is run on every fault."""

    strategies: tuple[str, ...] = ("guided", "random")
    budgets: tuple[str, ...] = ("10", "20")
    repeats: int = 3
    seeds: int = 6
    """That judge."""
    workers: int = 2


@dataclass(frozen=True)
class Running:
    """A fault to be run."""

    case: FaultCase
    scale: Scale
    plan: Plan


def measure(
    cases: Sequence[FaultCase],
    scale: Scale,
    plan: Plan,
    *,
    journal: Journal,
    tell: Tell = tell_nobody,
    stop: Stop | None = None,
    fresh: bool = False,
    jobs: int = 1,
) -> Scorecard:
    """Every fault that can be run here; the others are named with the reason."""
    stop = stop or Stop()
    missing = {case.id: why for case in cases if (why := availability(case).why_not)}
    wanted = {case.id: case for case in cases if case.id not in missing}
    shared = replace(plan, workers=max(1, plan.workers // jobs))
    told = {"scale": scale.value, "plan": replace(plan, workers=0), "code": code_identity()}
    request = {"cases": [case.id for case in cases], **told}
    with journal.run(story="bench-repair", request=request, what=scale.value, fresh=fresh) as run:
        found = run.many(
            dict.fromkeys(wanted, told),
            lambda names: several(
                {name: Running(wanted[name], scale, shared) for name in names},
                run_fault,
                what="bench repair",
                jobs=jobs,
                tell=tell,
                stop=stop,
            ),
            returns=Fault,
        )
        run.finish({"faults": len(found)})
    return scorecard(list(found.values()), cases, missing, scale, plan.strategies, plan.budgets)


def run_fault(wanted: Running, stop: Stop) -> Fault:
    """One fault: what the faulty and the fixed program reach, then every strategy, budget and repeat."""
    case, scale, plan = wanted.case, wanted.scale, wanted.plan
    with tempfile.TemporaryDirectory(prefix="reenact-repair-") as made, Journal.in_memory() as journal:
        scratch = Path(made)
        entries = [materialise(case, side, scale, scratch / side.value) for side in (Side.BUGGY, Side.FIXED)]
        buggy, fixed = (read_program((str(entry),), entry.parent) for entry in entries)
        store = FolderStore(scratch / "outcomes")

        def executor(_: object = None) -> Executor:
            return Cached(ProcessPool(workers=plan.workers, express=True), store)

        with Path(os.devnull).open("wb") as nowhere:
            given = DiagnoseServices(journal=journal, traces=scratch / "traces", stop=stop, stdout=nowhere)
            known = diagnose(buggy, DiagnoseWishes(depth=Depth.QUICK), given)
            with executor() as trainer:
                reference = _reference(case, buggy, fixed, known, trainer, plan)
            services = Services(
                journal=journal, traces=scratch / "traces", stop=stop, executor=executor, studies=False
            )
            runs = [_run(case, buggy, known, reference, wishes, services) for wishes in _wishes(plan)]
    return Fault(reference, tuple(runs))


def _wishes(plan: Plan) -> Iterator[Wishes]:
    for strategy in plan.strategies:
        for budget in plan.budgets:
            for repeat in range(plan.repeats):
                yield Wishes(
                    strategy=strategy, budget=budget, chance=repeat, seeds=plan.seeds, workers=plan.workers
                )


def _run(
    case: FaultCase,
    buggy: Program,
    known: Diagnosis,
    reference: Reference,
    wishes: Wishes,
    services: Services,
) -> Repaired:
    begun = time.monotonic()
    found = repair(buggy, wishes, services, known)
    verdict = found.verdict
    after = verdict.comparison.after if verdict is not None else reference.faulty
    one, many = jaccards(found.patch, buggy, case) if found.patch else (0.0, 0.0)
    return Repaired(
        case=case.id, strategy=wishes.strategy, budget=wishes.budget, repeat=wishes.chance,
        decision=found.decision.value, after=after, p_value=verdict.p_value if verdict is not None else 1.0,
        complexity=found.patch.complexity, jaccard=one, jaccard_many=many, trainings=found.cost.trainings,
        spent=found.cost.spent, seconds=time.monotonic() - begun, patch=str(found.patch),
    )  # fmt: skip


def _reference(
    case: FaultCase, buggy: Program, fixed: Program, known: Diagnosis, trainer: Executor, plan: Plan
) -> Reference:
    """Both programs over the seeds and the half of the data that judge."""
    assert known.evidence.trace is not None
    measure = choose_measure(known.evidence.trace, known.evidence.task)
    (probe,) = trainer.run([Trial(buggy, seed=1, part=Part.SEARCH)])
    judging = judging_by(measure, probe)
    seeds = FRESH[: plan.seeds]
    trials = [
        Trial(program, seed=seed, part=judging.judge_part) for program in (buggy, fixed) for seed in seeds
    ]
    outcomes = trainer.run(trials)
    values = oriented(
        [measure.value(one) if one.trained else float("nan") for one in outcomes],
        larger_is_better=measure.larger_is_better,
    )
    half = len(seeds)
    costs = [sum(one.cpu_seconds for one in part) for part in (outcomes[:half], outcomes[half:])]
    return Reference(
        case=case.id, faulty=values[:half], fixed=values[half:], metric=judging.judge.name,
        larger_is_better=measure.larger_is_better, cost=costs[1] / max(costs[0], 1e-9),
        knobs=sum(knob.changeable and bool(knob.alternatives) for knob in knobs_of(buggy)),
    )  # fmt: skip
