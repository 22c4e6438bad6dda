"""Algorithm 1 of "Fault Localisation and Repair for DL Systems": breadth-first search for neutral changes.

From the faulty program on, every hyperparameter is turned once; a training that is no worse than its parent
(by the mean of ten) is a node; the best five of each generation go on. A node as good as the known repair is
an alternative ground truth.
"""

import math
import random
from collections import deque
from collections.abc import Iterator
from statistics import fmean

from reenact.program.change import Set
from reenact.program.hyperparameter import Hyperparameter, Kind
from reenact.program.patch import Patch, change_for
from reenact.program.static_graph import hyperparameters_of
from reenact.repairs.alternatives.graph import NeutralityGraph, Node, NodeKind, kind_beside
from reenact.repairs.strategies.scoreboard import Scoreboard
from reenact.trials.trainer import BudgetedTrainer
from reenact.types import Progress, Tell

TURNED = (
    Kind.BATCH_SIZE, Kind.LEARNING_RATE, Kind.EPOCHS, Kind.LAYER, Kind.UNITS, Kind.FILTERS, Kind.ACTIVATION,
    Kind.BIAS_INIT, Kind.WEIGHT_INIT, Kind.LOSS, Kind.OPTIMIZER,
)  # fmt: skip
"""The mutations of the study: HBS, HLR, HNE, LRM and LAD, LCN, ACH, BCI, WCI, LCH, OCH."""
TOP, TRAININGS = 5, 10


def explore(
    trainer: BudgetedTrainer, known: Patch | tuple[float, ...], *, tell: Tell, top: int = TOP, chance: int = 0
) -> NeutralityGraph:
    """Walk until the queue is empty or the budget is spent. `known` is the known repair: a change, or what
    its trainings gave. Every seed of `trainer` is trained for every program."""
    rng = random.Random(chance)  # noqa: S311 - a search, no secret
    root = _samples(Patch(()), trainer)
    reference = _samples(known, trainer) if isinstance(known, Patch) else known
    nodes = [Node(Patch(()), -1, root, NodeKind.ROOT)]
    patch = known if isinstance(known, Patch) else Patch(())
    if patch or not isinstance(known, Patch):
        nodes.append(Node(patch, -1, reference, NodeKind.KNOWN))
    seen = Scoreboard()
    seen.add([node.patch for node in nodes], [node.fitness for node in nodes])
    queue, trained = deque([0]), 0
    while queue:
        parent = queue.popleft()
        found: list[int] = []
        for patch in neighbours(nodes[parent].patch, trainer, rng):
            if patch in seen:
                continue
            if not trainer.within_budget(trainer.cost(patch, len(trainer.seeds))):
                return _graph(nodes, trainer, trained, "the budget was spent")
            samples = _samples(patch, trainer)
            trained += 1
            seen.add([patch], [fmean(samples)])
            tell(
                Progress("neutral", len(nodes), 0, f"{trained} trained, {_alternatives(nodes)} alternatives")
            )
            if not _neutral(samples, nodes[parent].samples):
                continue
            nodes.append(Node(patch, parent, samples, kind_beside(samples, reference)))
            found.append(len(nodes) - 1)
        found.sort(key=lambda number: -nodes[number].fitness)
        queue.extend(found[:top])
    return _graph(nodes, trainer, trained, "no neutral change was left to go on from")


def neighbours(patch: Patch, trainer: BudgetedTrainer, rng: random.Random) -> Iterator[Patch]:
    """The change with one more hyperparameter turned, to a value drawn among its alternatives; every
    hyperparameter once."""
    program = patch.apply(trainer.program)
    for param in hyperparameters_of(program):
        if param.kind not in TURNED or not param.changeable or not param.alternatives:
            continue
        value = rng.choice(param.alternatives)
        new = _turned(patch, param, Patch((change_for(param, value),)))
        if trainer.applies(new):
            yield new


def _turned(patch: Patch, param: Hyperparameter, change: Patch) -> Patch:
    kept = tuple(
        one for one in patch.changes if not (isinstance(one, Set) and one.hyperparameter == param.id)
    )
    return Patch((*kept, *change.changes))


def _samples(patch: Patch, trainer: BudgetedTrainer) -> tuple[float, ...]:
    return trainer.samples([patch], trainer.seeds)[0]


def _neutral(samples: tuple[float, ...], parent: tuple[float, ...]) -> bool:
    mean = fmean(samples)
    return math.isfinite(mean) and mean >= fmean(parent)


def _alternatives(nodes: list[Node]) -> int:
    return sum(node.status in (NodeKind.AS_GOOD, NodeKind.BETTER) for node in nodes)


def _graph(nodes: list[Node], trainer: BudgetedTrainer, trained: int, ended: str) -> NeutralityGraph:
    measure = trainer.measure
    return NeutralityGraph(tuple(nodes), measure.name, measure.larger_is_better, trained, ended)
