"""The neutrality graph: trainings that are no worse than their parent, and which of them repair."""

from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean
from typing import Annotated, ClassVar

from pydantic import AliasChoices, Field

from reenact.diagnosis.suspects import FAULT_KINDS
from reenact.program.change import Change, Insert, Remove, Set
from reenact.program.fault import Fault
from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch
from reenact.result import Result
from reenact.trials.statistics import cohen_d, glm_p

SIGNIFICANT, LARGE = 0.05, 0.5
"""Of the study: p-value of a Gaussian GLM and Cohen's d, in the way mutants are killed."""


_FAULTS = {kind: fault for fault, kinds in reversed(list(FAULT_KINDS.items())) for kind in kinds}
"""The fault type that a change of each kind speaks of; the first where there are several."""


class NodeKind(StrEnum):
    """A training beside the known repair."""

    ROOT = "root"
    """The program as it stands."""
    KNOWN = "known"
    """The known repair."""
    NEUTRAL = "neutral"
    """No worse than its parent, worse than the known repair."""
    AS_GOOD = "as-good"
    """As good as the known repair or better, not significantly."""
    BETTER = "better"
    """Significantly better than the known repair."""


@dataclass(frozen=True, slots=True)
class Node:
    """One changed program."""

    JSON: ClassVar = ("patch", "parent", "samples", "status", "faults")

    patch: Patch
    parent: int
    """Number of the node it comes from; -1 for the root and the known repair."""
    samples: tuple[float, ...]
    """The metric a training, larger is better."""
    status: Annotated[NodeKind, Field(validation_alias=AliasChoices("status", "standing"))]
    """Earlier versions stored it under another name."""

    @property
    def fitness(self) -> float:
        return fmean(self.samples)

    @property
    def faults(self) -> list[tuple[str, str]]:
        """What the changes are about: fault and layer."""
        return sorted((fault.value, layer) for fault, layer in faults_of(self.patch))


@dataclass(frozen=True)
class NeutralityGraph(Result):
    """Nodes in the order they were found; edges lead from parents."""

    JSON: ClassVar = ("metric", "larger_is_better", "trained", "ended", "nodes", "alternatives")

    nodes: tuple[Node, ...]
    metric: str
    larger_is_better: bool
    trained: int
    """Changed programs that were trained, neutral or not."""
    ended: str
    """Why the walk ended."""

    @property
    def alternatives(self) -> tuple[Node, ...]:
        """Other repairs, the best first."""
        found = [node for node in self.nodes if node.status in (NodeKind.AS_GOOD, NodeKind.BETTER)]
        return tuple(sorted(found, key=lambda node: -node.fitness))

    def depth(self, number: int) -> int:
        steps = 0
        while self.nodes[number].parent >= 0:
            number, steps = self.nodes[number].parent, steps + 1
        return steps


def kind_beside(samples: tuple[float, ...], known: tuple[float, ...]) -> NodeKind:
    """How a training stands beside the known repair."""
    if fmean(samples) < fmean(known):
        return NodeKind.NEUTRAL
    sure = glm_p(known, samples) < SIGNIFICANT and cohen_d(known, samples) >= LARGE
    return NodeKind.BETTER if sure and fmean(samples) > fmean(known) else NodeKind.AS_GOOD


def faults_of(patch: Patch) -> frozenset[tuple[Fault, str]]:
    """Fault type and layer of every change; the layer is empty for what belongs to the training."""
    return frozenset(_fault(change) for change in patch.changes)


def _fault(change: Change) -> tuple[Fault, str]:
    if isinstance(change, Insert):
        return Fault.LRM, change.anchor.layer
    param = change.hyperparameter
    if param.kind is Kind.LAYER:
        taken = isinstance(change, Remove) or (isinstance(change, Set) and change.value is None)
        return (Fault.LAD if taken else Fault.LRM), param.layer
    return _FAULTS[param.kind], param.layer
