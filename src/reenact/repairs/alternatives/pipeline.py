"""Neutrality analysis of one program: watch it once, train the known repair, walk."""

from dataclasses import asdict, dataclass

from reenact.diagnosis.options import PACE, Depth, DiagnoseOptions
from reenact.diagnosis.pipeline import DiagnoseServices, diagnose_within
from reenact.probe.surroundings import training_mark
from reenact.program.patch import Patch
from reenact.program.program import Program
from reenact.repairs.alternatives.explore import TOP, TRAININGS, explore
from reenact.repairs.alternatives.graph import NeutralityGraph
from reenact.repairs.prepare import fit_for_repair
from reenact.trials.budget import repair_budget
from reenact.trials.metric import choose_measure
from reenact.trials.trainer import BudgetedTrainer
from reenact.trials.trial import Trial


@dataclass(frozen=True, slots=True)
class AlternativesOptions:
    """Every option has a default."""

    budget: str = "200x"
    """As in a repair; one node takes as many trainings as `trainings` says."""
    trainings: int = TRAININGS
    top: int = TOP
    """Neutral neighbours of a node that the walk goes on from."""
    metric: str = ""
    python: str = ""
    workers: int = 0
    chance: int = 0

    def to_json(self) -> dict[str, object]:
        return {name: value for name, value in asdict(self).items() if name not in PACE}


def analyse(
    program: Program, options: AlternativesOptions, services: DiagnoseServices, known: Program | None = None
) -> NeutralityGraph:
    """The graph; the same call after an interruption continues. `known` is the program with the known repair;
    without one, what is no worse than the program as it stands counts as an alternative to it."""
    request = {
        "program": Trial(program).key,
        "known": Trial(known).key if known is not None else None,
        **options.to_json(),
    }
    with services.journal.run(
        pipeline="alternatives",
        request=request,
        argv=services.argv,
        what=str(program.entry),
        fresh=services.fresh,
    ) as run:
        asked = DiagnoseOptions(depth=Depth.QUICK, metric=options.metric, python=options.python)
        found = diagnose_within(program, asked, services, run.under("diagnosis"))
        trace = fit_for_repair(found)
        measure = choose_measure(trace, found.evidence.task, options.metric or None)
        with services.open_executor(options.workers, options.python) as executor:
            trainer = BudgetedTrainer(
                program=program, executor=executor, measure=measure, budget=repair_budget(options.budget),
                one_training=trace.seconds, one_wall=trace.seconds, trials=run.under("trials"),
                around=training_mark(program, options.python, found.evidence.opened), stop=services.stop,
                seeds=tuple(range(501, 501 + options.trainings)),
            )  # fmt: skip
            trainer.measure_cost()
            graph = explore(
                trainer, _known(known, trainer), tell=services.tell, top=options.top, chance=options.chance
            )
        run.note("result", graph)
        run.finish({"nodes": len(graph.nodes), "alternatives": len(graph.alternatives), "ended": graph.ended})
    return graph


def _known(known: Program | None, trainer: BudgetedTrainer) -> Patch | tuple[float, ...]:
    """What the known repair reaches, over the same seeds."""
    if known is None:
        return Patch(())
    trials = [Trial(known, Patch(()), seed) for seed in trainer.seeds]
    return tuple(trainer.measure.score(outcome) for outcome in trainer.outcomes(trials))
