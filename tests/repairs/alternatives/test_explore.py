"""The walk through neutral changes, over trainings that follow a formula."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reenact.faults.fault_type import FaultType
from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch
from reenact.repairs.alternatives import (
    NeutralityGraph,
    NodeKind,
    explore,
    faults_of,
    kind_beside,
)
from reenact.testing.strategy import Values, rate_decides, search_context, set_to
from reenact.types import tell_nobody

KNOWN = Patch((set_to(Kind.LEARNING_RATE, 0.01),))


def walked(
    formula=rate_decides,
    budget: str = "400x",
    known: Patch = KNOWN,
    noise: float = 0.01,
    **given: int,
) -> NeutralityGraph:
    trainer = search_context(formula, budget=budget, noise=noise).context.trainer
    return explore(replace(trainer, seeds=tuple(range(1, 5))), known, tell=tell_nobody, **given)


def test_every_node_is_no_worse_than_its_parent() -> None:
    found = walked()
    for node in found.nodes:
        if node.parent >= 0:
            assert node.fitness >= found.nodes[node.parent].fitness


def test_alternatives_are_as_good_as_the_known_repair() -> None:
    found = walked(noise=0.0)
    known = next(node for node in found.nodes if node.status is NodeKind.KNOWN)
    assert found.alternatives
    assert all(node.fitness >= known.fitness for node in found.alternatives)
    assert all((FaultType.HLR, "") in faults_of(node.patch) for node in found.alternatives), (
        "the learning rate decides, so nothing else repairs"
    )


def test_no_change_is_trained_twice() -> None:
    texts = ["\n".join(sorted(map(str, node.patch.changes))) for node in walked().nodes]
    assert len(texts) == len(set(texts))


def test_only_the_best_go_on() -> None:
    found = walked(top=1)
    parents = {node.parent for node in found.nodes if node.parent >= 0}
    children = {
        depth: sum(found.depth(number) == depth for number in parents) for depth in range(1, 6)
    }
    assert all(count <= 1 for count in children.values())


def test_the_budget_ends_the_walk() -> None:
    found = walked(budget="30x")
    assert found.ended == "the budget was spent"
    assert found.trained * 4 <= 60


def test_failed_trainings_are_no_nodes() -> None:
    def only_as_it_stands(values: Values) -> float | None:
        return 0.5 if values[Kind.LEARNING_RATE] == 0.5 else None

    found = walked(only_as_it_stands, known=Patch(()))
    assert all((FaultType.HLR, "") not in faults_of(node.patch) for node in found.nodes)


@pytest.mark.parametrize(
    ("samples", "status"),
    [
        ((0.5, 0.51, 0.49, 0.5), NodeKind.NEUTRAL),
        ((0.8, 0.81, 0.79, 0.82), NodeKind.AS_GOOD),
        ((0.95, 0.96, 0.95, 0.96), NodeKind.BETTER),
    ],
)
def test_beside_the_known_repair(samples: tuple[float, ...], status: NodeKind) -> None:
    assert kind_beside(samples, (0.8, 0.81, 0.79, 0.8)) is status
