"""What a strategy made of one fault, once, and the figures that the study takes of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from benchmarks.faults.answers import activation_index
from benchmarks.faults.case import FaultCase
from benchmarks.faults.scores import Answer, score
from reenact.faults.evidence import Evidence
from reenact.faults.fault_type import FaultType
from reenact.program.patch import Patch
from reenact.program.program import Program
from reenact.program.static_graph import static_graph
from reenact.repairs.alternatives import faults_of
from reenact.trials.verify import SIGNIFICANT

LEAST_GAIN = 1e-9


@dataclass(frozen=True)
class Reference:
    """The faulty and the fixed program over the first seed that judges each run; larger is
    better.
    """

    case: str
    faulty: tuple[float, ...]
    fixed: tuple[float, ...]
    metric: str
    larger_is_better: bool
    cost: float
    """CPU time of one training of the fixed program, in trainings of the faulty one."""
    hyperparameters: int
    """Hyper-parameters that could be changed."""
    data: str = ""
    """What it trains on; a stand-in says so."""


@dataclass(frozen=True)
class Repaired:
    """One run of one strategy on one fault."""

    case: str
    strategy: str
    budget: str
    repeat: int
    decision: str
    before: tuple[float, ...]
    """The faulty program over the seeds that judge this run, which no other run has."""
    after: tuple[float, ...]
    """The repaired program over the same seeds; the faulty one's when nothing was found."""
    p_value: float
    complexity: int
    jaccard: float
    """Share of the known faults that the change speaks of."""
    jaccard_many: float
    """The same, against the alternative ground truth that agrees best."""
    trainings: int
    spent: float
    seconds: float
    """Processor time of the search and the minimising; what another run trained before counts
    in full.
    """
    patch: str = ""

    @property
    def significant(self) -> bool:
        """Whether the fresh seeds say so: one rule for every strategy, whatever the decision rests on."""
        return self.decision in ("repaired", "improved") and self.p_value < SIGNIFICANT


def improvement_rate(after: Sequence[float], reference: Reference) -> float:
    """(patch - faulty) / (fixed - faulty), by means; all three larger is better.

    A training that failed counts as the worst of the faulty ones: it has no number. NaN where the
    known fix is no improvement: beside it, a better patch would have the worse rate.
    """
    floor = min((value for value in reference.faulty if math.isfinite(value)), default=0.0)
    faulty, fixed, reached = (
        fmean(value if math.isfinite(value) else floor for value in values)
        for values in (reference.faulty, reference.fixed, after)
    )
    possible = fixed - faulty
    return (reached - faulty) / possible if possible > LEAST_GAIN else math.nan


def jaccards(patch: Patch, program: Program, case: FaultCase) -> tuple[float, float]:
    """Asymmetric Jaccard against the known ground truth, and against the best of all."""
    answer = answer_of_patch(patch, program)
    truths = (case.truth, *case.alternatives)
    shares = [score(answer, truth).recall for truth in truths if truth]
    return (shares[0], max(shares)) if shares else (0.0, 0.0)


def answer_of_patch(patch: Patch, program: Program) -> Answer:
    """Fault types and layer numbers of a change."""
    graph = static_graph(program)
    names = [layer.name for layer in graph.layers if layer.family != "input"]
    evidence = Evidence(program, graph)

    def number(fault: FaultType, layer: str) -> int | None:
        index = names.index(layer) if layer in names else None
        return activation_index(evidence, layer, index) if fault is FaultType.ACH else index

    return frozenset((fault, number(fault, layer)) for fault, layer in faults_of(patch))
