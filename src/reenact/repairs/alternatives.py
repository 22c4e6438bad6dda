"""Neutrality: other repairs than the known one, found by walking through trainings that are not
worse.

Algorithm 1 of "Fault Localisation and Repair for DL Systems": breadth-first search for neutral
changes. From the faulty program on, every hyperparameter is turned once; a training that is not
worse than its parent (by the mean of ten) is a node; the best five of each generation go on. A node
as good as the known repair is an alternative ground truth.
"""

import math
import random
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from statistics import fmean
from typing import TypedDict

from reenact.diagnosis.options import PACE, Depth, DiagnoseOptions
from reenact.diagnosis.pipeline import diagnose_within
from reenact.diagnosis.services import DiagnoseServices
from reenact.faults.fault_type import FaultType
from reenact.program.edit.change import Insert, Remove, Rewrite, Set, Turned
from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch, change_for
from reenact.program.program import Program
from reenact.program.static_graph import hyperparameters_of
from reenact.repairs.prepare import fit_for_repair
from reenact.repairs.strategies.strategy import Scoreboard
from reenact.result import Result
from reenact.trials.budget import repair_budget
from reenact.trials.metric import choose_measure
from reenact.trials.statistics import cohen_d, glm_p
from reenact.trials.trainer import BudgetedTrainer
from reenact.trials.trial import Trial
from reenact.types import Progress, Tell

SIGNIFICANT, LARGE = 0.05, 0.5
"""Of the study: p-value of a Gaussian GLM and Cohen's d, in the way mutants are killed."""


_FAULTS = {kind: fault for fault in reversed(FaultType) for kind in fault.traits.kinds}
"""The fault type that a change of each kind speaks of; the first where there are several."""


class NodeKind(StrEnum):
    """A training next to the known repair."""

    ROOT = "root"
    """The unchanged program."""
    KNOWN = "known"
    """The known repair."""
    NEUTRAL = "neutral"
    """No worse than its parent, worse than the known repair."""
    AS_GOOD = "as-good"
    """As good as the known repair or better, not significantly."""
    BETTER = "better"
    """Significantly better than the known repair."""


ALTERNATIVE = (NodeKind.AS_GOOD, NodeKind.BETTER)


class NodeJson(TypedDict):
    """A changed program as JSON."""

    patch: Patch
    parent: int
    samples: tuple[float, ...]
    status: NodeKind
    faults: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Node:
    """One changed program."""

    patch: Patch
    parent: int
    """Number of the node it comes from; -1 for the root and the known repair."""
    samples: tuple[float, ...]
    """The metric a training, larger is better."""
    status: NodeKind

    def json_fields(self) -> NodeJson:
        return {
            "patch": self.patch,
            "parent": self.parent,
            "samples": self.samples,
            "status": self.status,
            "faults": self.faults,
        }

    @property
    def fitness(self) -> float:
        return fmean(self.samples)

    @property
    def faults(self) -> list[tuple[str, str]]:
        """What the changes are about: fault and layer."""
        return sorted((fault.value, layer) for fault, layer in faults_of(self.patch))


class NeutralityGraphJson(TypedDict):
    """A neutrality graph as JSON."""

    metric: str
    larger_is_better: bool
    trained: int
    ended: str
    nodes: tuple[Node, ...]
    alternatives: tuple[Node, ...]


@dataclass(frozen=True, repr=False)
class NeutralityGraph(Result):
    """Nodes in the order they were found; edges lead from parents."""

    nodes: tuple[Node, ...]
    metric: str
    larger_is_better: bool
    trained: int
    """Changed programs that were trained, neutral or not."""
    ended: str
    """Why the walk ended."""

    def json_fields(self) -> NeutralityGraphJson:
        return {
            "metric": self.metric,
            "larger_is_better": self.larger_is_better,
            "trained": self.trained,
            "ended": self.ended,
            "nodes": self.nodes,
            "alternatives": self.alternatives,
        }

    @property
    def alternatives(self) -> tuple[Node, ...]:
        """Other repairs, the best first."""
        found = [node for node in self.nodes if node.status in ALTERNATIVE]
        return tuple(
            sorted(
                found,
                key=lambda node: -node.fitness,
            )
        )

    def in_a_line(self) -> str:
        return f"{len(self.alternatives)} alternatives among {len(self.nodes)} programs"

    def depth(self, number: int) -> int:
        steps = 0
        while self.nodes[number].parent >= 0:
            number = self.nodes[number].parent
            steps = steps + 1
        return steps


def kind_beside(
    samples: tuple[float, ...],
    known: tuple[float, ...],
) -> NodeKind:
    """The status of a training next to the known repair."""
    if fmean(samples) < fmean(known):
        return NodeKind.NEUTRAL
    sure = glm_p(known, samples) < SIGNIFICANT and cohen_d(known, samples) >= LARGE
    if sure and fmean(samples) > fmean(known):
        return NodeKind.BETTER
    return NodeKind.AS_GOOD


def faults_of(patch: Patch) -> frozenset[tuple[FaultType, str]]:
    """Fault type and layer of every change of a hyperparameter; the layer is empty for what belongs to
    the training.
    """
    turned = (one for one in patch.changes if not isinstance(one, Rewrite))
    return frozenset(map(_fault, turned))


def _fault(change: Turned) -> tuple[FaultType, str]:
    if isinstance(change, Insert):
        return FaultType.LRM, change.anchor.layer
    param = change.hyperparameter
    if param.kind is Kind.LAYER:
        taken = isinstance(change, Remove) or (isinstance(change, Set) and change.value is None)
        return (FaultType.LAD if taken else FaultType.LRM), param.layer
    return _FAULTS[param.kind], param.layer


TURNED = (
    Kind.BATCH_SIZE,
    Kind.LEARNING_RATE,
    Kind.EPOCHS,
    Kind.LAYER,
    Kind.UNITS,
    Kind.FILTERS,
    Kind.ACTIVATION,
    Kind.BIAS_INIT,
    Kind.WEIGHT_INIT,
    Kind.LOSS,
    Kind.OPTIMIZER,
)
"""The mutations of the study: HBS, HLR, HNE, LRM and LAD, LCN, ACH, BCI, WCI, LCH, OCH."""
TOP, TRAININGS = 5, 10


def explore(
    trainer: BudgetedTrainer,
    known: Patch | tuple[float, ...],
    *,
    tell: Tell,
    top: int = TOP,
    chance: int = 0,
) -> NeutralityGraph:
    """Walk until the queue is empty or the budget is spent. `known` is the known repair: a change,
    or what its trainings gave. Every seed of `trainer` is trained for every program.
    """
    rng = random.Random(chance)  # noqa: S311 - a search, no secret

    def samples_of(patch: Patch) -> tuple[float, ...]:
        return trainer.samples([patch], trainer.seeds)[0]

    def graph(ended: str) -> NeutralityGraph:
        measure = trainer.measure
        return NeutralityGraph(
            tuple(nodes),
            measure.name,
            measure.larger_is_better,
            trained,
            ended,
        )

    nodes = [
        Node(
            Patch(()),
            -1,
            samples_of(Patch(())),
            NodeKind.ROOT,
        )
    ]
    reference = samples_of(known) if isinstance(known, Patch) else known
    patch = known if isinstance(known, Patch) else Patch(())
    if patch or not isinstance(known, Patch):
        nodes.append(Node(patch, -1, reference, NodeKind.KNOWN))
    seen = Scoreboard()
    seen.add(
        [node.patch for node in nodes],
        [node.fitness for node in nodes],
    )
    queue, trained = deque([0]), 0
    while queue:
        parent = queue.popleft()
        found: list[int] = []
        for patch in neighbours(nodes[parent].patch, trainer, rng):
            if patch in seen:
                continue
            if not trainer.within_budget(trainer.cost(patch, len(trainer.seeds))):
                return graph("the budget was spent")
            samples = samples_of(patch)
            trained += 1
            seen.add([patch], [fmean(samples)])
            others = sum(node.status in ALTERNATIVE for node in nodes)
            tell(
                Progress(
                    "neutral",
                    len(nodes),
                    0,
                    f"{trained} trained, {others} alternatives",
                )
            )
            if not math.isfinite(fmean(samples)) or fmean(samples) < nodes[parent].fitness:
                continue
            nodes.append(
                Node(
                    patch,
                    parent,
                    samples,
                    kind_beside(samples, reference),
                )
            )
            found.append(len(nodes) - 1)
        found.sort(key=lambda number: -nodes[number].fitness)
        queue.extend(found[:top])
    return graph("no neutral change was left to go on from")


def neighbours(patch: Patch, trainer: BudgetedTrainer, rng: random.Random) -> Iterator[Patch]:
    """The change with one more hyperparameter turned, to a value drawn among its alternatives;
    every hyperparameter once.
    """
    program = patch.apply(trainer.program)
    for param in hyperparameters_of(program):
        if param.kind not in TURNED or not param.changeable or not param.alternatives:
            continue
        change = change_for(param, rng.choice(param.alternatives))
        set_again = [
            one for one in patch.changes if isinstance(one, Set) and one.hyperparameter == param.id
        ]
        new = Patch(
            (
                *(one for one in patch.changes if one not in set_again),
                change,
            )
        )
        if trainer.applies(new):
            yield new


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
    program: Program,
    options: AlternativesOptions,
    services: DiagnoseServices,
    known: Program | None = None,
) -> NeutralityGraph:
    """The graph; the same call after an interruption continues. `known` is the program with the
    known repair; without one, what is no worse than the unchanged program counts as an
    alternative to it.
    """
    keys = {
        "program": Trial(program).key,
        "known": Trial(known).key if known is not None else None,
    }
    request = {**keys, **options.to_json()}
    with services.open_run("alternatives", program, request) as run:
        asked = DiagnoseOptions(
            depth=Depth.QUICK,
            metric=options.metric,
            python=options.python,
        )
        found = diagnose_within(
            program,
            asked,
            services,
            run.under("diagnosis"),
            None,
        )
        trace = fit_for_repair(found)
        measure = choose_measure(
            trace,
            found.evidence.task,
            options.metric or None,
        )
        with services.open_executor(options.workers, options.python) as executor:
            trainer = services.trainer(
                found.evidence,
                executor,
                run,
                options.python,
                measure=measure,
                budget=repair_budget(options.budget),
                seeds=tuple(range(501, 501 + options.trainings)),
            )
            trainer.measure_cost()
            reference: Patch | tuple[float, ...] = Patch(())
            if known is not None:
                # What the known repair reaches, over the same seeds.
                (reference,) = trainer.scored(
                    [Trial(known, Patch(()), seed) for seed in trainer.seeds]
                )
            graph = explore(
                trainer,
                reference,
                tell=services.tell,
                top=options.top,
                chance=options.chance,
            )
        run.note("result", graph)
        run.finish(
            {
                "nodes": len(graph.nodes),
                "alternatives": len(graph.alternatives),
                "ended": graph.ended,
            }
        )
    return graph
