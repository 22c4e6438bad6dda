"""Runs strategies on the faults: what both programs reach, then every strategy, budget and repeat.

A step is a fault, a strategy and a few of its repeats. Every strategy is run on a fault before the
next fault begins, so that what was run so far compares them. All runs of one fault share its
trainings, whose outcomes are on disk: no configuration is trained twice, and a run that was killed
continues within the fault.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.faults.case import FaultCase, Scale, Side
from benchmarks.faults.programs import ENTRY, availability, materialise
from benchmarks.identity import code_identity
from benchmarks.outcome_cache import Cached, FolderStore
from benchmarks.repairs.card import scorecard
from benchmarks.repairs.figures import Fault
from benchmarks.repairs.outcomes import outcomes_folder
from benchmarks.repairs.repaired import Reference, Repaired, jaccards
from benchmarks.repairs.tables import Way
from benchmarks.scorecard import Scorecard
from benchmarks.several import several
from benchmarks.warm import Lent, end_with_parent, warm_pool
from reenact.diagnosis.diagnosis import Diagnosis
from reenact.diagnosis.options import Depth, DiagnoseOptions
from reenact.diagnosis.pipeline import diagnose
from reenact.diagnosis.services import DiagnoseServices
from reenact.errors import InputError, ReenactError, Stopped, StorageError
from reenact.journal import Journal
from reenact.program.patch import Patch
from reenact.program.program import Program, read_program
from reenact.program.static_graph import hyperparameters_of
from reenact.repairs.options import RepairOptions
from reenact.repairs.pipeline import repair
from reenact.repairs.prepare import RepairServices, choosing_seeds, judging_seeds
from reenact.repairs.verdict import Repair, Verdict, judging_by
from reenact.trials.executor import Executor
from reenact.trials.metric import choose_measure
from reenact.trials.trial import Part, Trial
from reenact.types import Stop, Tell, tell_nobody

MEASURED = (
    "benchmarks/repairs",
    "benchmarks/faults",
    "benchmarks/cases/faults",
    "repairs",
    "diagnosis",
    "rules",
    "trials",
    "probe",
    "program",
)
"""Packages that decide the figures: a change elsewhere does not make them old."""
WATCHED = 1
"""Trainings that the diagnosis takes."""
CHEAP = ("D6", "D3", "D1", "C2", "D5", "D8", "D7")
"""Faults whose trainings take a few seconds at lite scale; they come first."""
DEARER = ("M1", "R1", "C1", "D4", "D9")
"""Then one fault of every other base program, by what a training takes; last, the other faults
of these.
"""
REPEATS_AT_ONCE = 5
"""Of a fault that is not among the cheap ones: several processes share its repeats."""


@dataclass(frozen=True)
class Wanted:
    """A strategy as it is asked for: `NAME`, `NAME:SPACE`, `NAME@REPEATS`."""

    label: str
    """Its name and space, as tables show it."""
    name: str
    space: str
    """Of `random`, `bohb` and `hebo`: the study's, as what was published, unless it says `own`."""
    repeats: int


@dataclass(frozen=True)
class Plan:
    """What is run on every fault."""

    strategies: tuple[str, ...] = ("guided", "random")
    budgets: tuple[str, ...] = ("10", "20")
    repeats: int = 3
    """Of every strategy that does not say its own."""
    seeds: int = 6
    """That judge a run; no two runs share one."""
    workers: int = 2

    @property
    def wanted(self) -> tuple[Wanted, ...]:
        """Raises InputError."""
        return tuple(self._wanted(text) for text in self.strategies)

    def _wanted(self, text: str) -> Wanted:
        label, _, repeats = text.partition("@")
        name, _, space = label.partition(":")
        if (
            space not in ("", "own", "study")
            or (repeats and not repeats.isdigit())
            or repeats == "0"
        ):
            raise InputError(
                f"A strategy is NAME, NAME:own or NAME@REPEATS. Received: {text}.",
                next_step="Write for example --strategy random:own@3.",
            )
        return Wanted(label, name, space or "study", int(repeats or self.repeats))

    @property
    def references(self) -> int:
        """Seeds over which the faulty and the fixed program are trained: the first one of every
        run.
        """
        return max([self.seeds, *(one.repeats for one in self.wanted)])


@dataclass(frozen=True)
class Running:
    """A fault to be run by the strategies of a plan."""

    case: FaultCase
    scale: Scale
    plan: Plan
    outcomes: Path
    """Folder where the outcomes of its trainings are kept."""
    strategy: Wanted | None = None
    """None: only what the faulty and the fixed program reach."""
    repeats: tuple[int, ...] = ()
    """Those of the strategy that this step runs."""


def measure(
    cases: Sequence[FaultCase],
    scale: Scale,
    plan: Plan,
    *,
    journal: Journal,
    work: Path,
    tell: Tell = tell_nobody,
    stop: Stop | None = None,
    fresh: bool = False,
    jobs: int = 1,
    each: Callable[[Scorecard], object] | None = None,
) -> Scorecard:
    """Every fault that can be run here; the others are named with the reason.

    `work` holds outcomes of trainings; `each` is given the card so far after every fault and
    strategy.
    """
    stop = stop or Stop()
    missing = {case.id: why for case in cases if (why := availability(case).why_not)}
    outcomes = outcomes_folder(work)
    plan_of_one = replace(plan, workers=max(1, plan.workers // jobs))
    ready = sorted((case for case in cases if case.id not in missing), key=dearness)
    wanted = {
        name: running
        for case in ready
        for strategy in (None, *plan.wanted)
        for name, running in steps_of(
            Running(case, scale, plan_of_one, outcomes / case.id, strategy)
        )
    }
    identity = {"scale": scale.value, "code": code_identity(*MEASURED)}
    judged = {
        "budgets": plan.budgets,
        "seeds": plan.seeds,
        "references": plan.references,
    }
    steps = {
        name: {**identity, **judged, "strategy": one.strategy, "repeats": one.repeats}
        for name, one in wanted.items()
    }
    request = {
        "cases": [case.id for case in cases],
        "plan": replace(plan, workers=0),
        **identity,
    }
    labels = tuple(one.label for one in plan.wanted)

    def card(found: Mapping[str, Fault]) -> Scorecard:
        faults, over = merged(found), len(found) == len(wanted)
        return scorecard(faults, cases, missing, scale, labels, plan.budgets, over=over)

    def run_all(names: tuple[str, ...]) -> Iterator[Mapping[str, Fault]]:
        left = {name: wanted[name] for name in names}
        for group in several(left, run_fault, what="bench repair", jobs=jobs, tell=tell, stop=stop):
            found.update(group)
            if each is not None:
                each(card(found))
            yield group

    with journal.run(
        pipeline="bench-repair", request=request, what=scale.value, fresh=fresh
    ) as run:
        # By their inputs the code is known: another command with the same code takes them over.
        found = run.many(steps, lambda _: iter(()), returns=Fault, shared=True)
        found = run.many(steps, run_all, returns=Fault, shared=True)
        run.finish({"steps": len(found)})
    return card(found)


def merged(found: Mapping[str, Fault]) -> list[Fault]:
    """One a fault, with the runs of all strategies; a strategy that failed on one stands apart."""
    whole: dict[str, Fault] = {}
    apart = []
    for name, one in found.items():
        known = whole.get(one.reference.case)
        if one.failed:
            failed = name.rpartition("-")[0]
            apart.append(replace(one, reference=replace(one.reference, case=failed)))
        elif known is None:
            whole[one.reference.case] = one
        else:
            whole[one.reference.case] = replace(
                known,
                runs=(*known.runs, *one.runs),
                trained=known.trained + one.trained,
                cpu_seconds=known.cpu_seconds + one.cpu_seconds,
                took=known.took + one.took,
            )
    return [*whole.values(), *apart]


def steps_of(wanted: Running) -> Iterator[tuple[str, Running]]:
    """By name; the repeats of a fault whose trainings take long are shared out."""
    if wanted.strategy is None:
        yield f"{wanted.case.id}-reference", wanted
        return
    repeats = range(wanted.strategy.repeats)
    at_once = len(repeats) if wanted.case.id in CHEAP else REPEATS_AT_ONCE
    for first in repeats[::at_once]:
        some = tuple(repeats[first : first + at_once])
        yield (
            f"{wanted.case.id}-{wanted.strategy.label}-{first}",
            replace(wanted, repeats=some),
        )


def dearness(case: FaultCase) -> int:
    """Its place in the order of faults; those of one place stay as they are."""
    order = (*CHEAP, *DEARER)
    return order.index(case.id) if case.id in order else len(order)


def run_fault(wanted: Running, stop: Stop) -> Fault:
    """One fault: what the faulty and the fixed program reach, then every budget and repeat of a
    strategy.
    """
    begun = time.monotonic()
    end_with_parent()
    lent = Lent(warm_pool(wanted.plan.workers))
    trainer = Cached(lent, FolderStore(wanted.outcomes))
    with tempfile.TemporaryDirectory(prefix="reenact-repair-") as made:
        try:
            found = repaired_by_all(wanted, Path(made), trainer, stop)
        except (Stopped, StorageError):
            raise
        except ReenactError as error:
            found = Fault(_unknown(wanted.case), (), failed=error.sentence)
    return replace(
        found,
        trained=lent.trainings,
        cpu_seconds=lent.cpu_seconds,
        took=time.monotonic() - begun,
    )


def repaired_by_all(wanted: Running, scratch: Path, trainer: Executor, stop: Stop) -> Fault:
    """The same by trainings of somebody else's."""
    case, scale, plan = wanted.case, wanted.scale, wanted.plan
    # By relative names: the keys of trainings hold them, and outcomes outlive the folder.
    buggy, fixed = (
        read_program((ENTRY,), materialise(case, side, scale, scratch / side.value).parent)
        for side in (Side.BUGGY, Side.FIXED)
    )
    with Journal.in_memory() as journal, Path(os.devnull).open("wb") as nowhere:
        given = DiagnoseServices(
            journal=journal, traces=scratch / "traces", stop=stop, stdout=nowhere
        )
        known = diagnose(buggy, DiagnoseOptions(depth=Depth.QUICK), given)
        reference = _reference(case, buggy, fixed, known, trainer, plan)
        services = RepairServices(
            journal=journal,
            traces=scratch / "traces",
            stop=stop,
            executor=lambda: trainer,
            studies=False,
        )
        runs = [
            _run(case, buggy, known, reference, named, options, services)
            for named, options in _options(wanted)
        ]
    return Fault(reference, tuple(runs))


def _unknown(case: FaultCase) -> Reference:
    return Reference(case.id, (), (), case.metric, case.larger_is_better, 0.0, 0)


def _options(wanted: Running) -> Iterator[tuple[Way, RepairOptions]]:
    """With the strategy and the budget as the plan names them."""
    plan, strategy = wanted.plan, wanted.strategy
    for budget in plan.budgets if strategy is not None else ():
        assert strategy is not None
        for repeat in wanted.repeats:
            # One training is paid before the search begins: the watched run, which all repeats
            # share.
            left = f"{float(budget) - WATCHED:g}x"
            yield (
                (strategy.label, budget),
                RepairOptions(
                    strategy=strategy.name,
                    budget=left,
                    chance=repeat,
                    seeds=plan.seeds,
                    workers=plan.workers,
                    space=strategy.space,
                ),
            )


def _run(
    case: FaultCase,
    buggy: Program,
    known: Diagnosis,
    reference: Reference,
    named: Way,
    options: RepairOptions,
    services: RepairServices,
) -> Repaired:
    """Judged by the first change that was verified: that it failed has chosen the second one, by
    trainings that no budget paid for.
    """
    found = repair(buggy, options, services, known)
    verdict = _first_verified(found)
    patch = verdict.patch if verdict is not None else Patch(())
    before, after = (reference.faulty,) * 2
    if verdict is not None:
        before, after = verdict.comparison.before, verdict.comparison.after
    one, many = jaccards(patch, buggy, case) if patch else (0.0, 0.0)
    return Repaired(
        case=case.id,
        strategy=named[0],
        budget=named[1],
        repeat=options.chance,
        decision=(verdict or found).decision.value,
        before=before,
        after=after,
        p_value=verdict.p_value if verdict is not None else 1.0,
        complexity=patch.complexity,
        jaccard=one,
        jaccard_many=many,
        trainings=found.cost.trainings + WATCHED,
        spent=found.cost.spent + WATCHED,
        seconds=(found.cost.spent + WATCHED) * found.cost.one_training,
        patch=str(patch),
    )


def _first_verified(found: Repair) -> Verdict | None:
    """The first change that was verified; on top of fixes of proven faults, which are kept whatever the
    search finds, the first that it verified, where that holds.
    """
    if not found.verdicts:
        return None
    first, *others = found.verdicts
    if found.fixed_faults and len(others) == 1 and others[0].decision.helps:
        return others[0]
    return first


def _reference(
    case: FaultCase,
    buggy: Program,
    fixed: Program,
    known: Diagnosis,
    trainer: Executor,
    plan: Plan,
) -> Reference:
    """Both programs on the half of the data that judges, over the first seed of every run."""
    assert known.evidence.trace is not None
    measure = choose_measure(known.evidence.trace, known.evidence.task)
    (probe,) = trainer.run([Trial(buggy, seed=choosing_seeds(0)[0], part=Part.SEARCH)])
    judging = judging_by(measure, probe)
    seeds = [judging_seeds(chance, 1)[0] for chance in range(plan.references)]
    trials = [
        Trial(program, seed=seed, part=judging.judge_part)
        for program in (buggy, fixed)
        for seed in seeds
    ]
    outcomes = trainer.run(trials)
    values = tuple(judging.judge.score(one) for one in outcomes)
    half = len(seeds)
    costs = [sum(one.cpu_seconds for one in part) for part in (outcomes[:half], outcomes[half:])]
    turned = [
        param for param in hyperparameters_of(buggy) if param.changeable and param.alternatives
    ]
    return Reference(
        case=case.id,
        faulty=values[:half],
        fixed=values[half:],
        metric=judging.judge.name,
        larger_is_better=measure.larger_is_better,
        cost=costs[1] / max(costs[0], 1e-9),
        hyperparameters=len(turned),
        data=availability(case).data.label,
    )
