"""What keeps a training from learning, where its own course shows it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath

import numpy as np
import pytest

from made_evidence import QUANTITIES, findings_in, graph, trace
from reenact.faults.confidence import Health
from reenact.faults.evidence import Evidence
from reenact.faults.health import health_of
from reenact.faults.observation import Certainty
from reenact.probe.trace import (
    Behaviour,
    Columns,
    Experiments,
    LossByMode,
    OneBatch,
    ParameterFacts,
    PermutedLabels,
    Stretched,
)
from reenact.program.graph import Layer, OptimizerFacts, TaskType, WeightFacts
from reenact.testing.faults import evidence_of
from reenact.types import Place


@pytest.mark.parametrize(("stays", "falls", "count"), [(2, 3, 1), (25, 3, 0), (2, 2, 1), (2, 1, 0)])
def test_a_schedule_that_is_over_within_the_first_epoch(stays: int, falls: int, count: int) -> None:
    run = trace([2.2] * 60)
    rows = run.steps.rows.copy()
    rows[:, run.steps.columns.index("learning_rate")] = [
        0.02 * 0.1 ** min(falls, step // stays) for step in range(60)
    ]
    found = findings_in(
        "RE044", Evidence(trace=replace(run, steps=Columns(run.steps.columns, rows)))
    )
    saw = (
        f"learning rate 0.02 falls {falls} times in the first of 6 epochs, to "
        f"{0.02 * 0.1**falls:.1e}"
    )
    assert [one.saw for one in found] == [saw] * count


@pytest.mark.parametrize(("every", "count"), [(5, 1), (10, 0)])
def test_a_rate_that_falls_more_often_than_there_are_epochs(every: int, count: int) -> None:
    run = trace([2.2] * 60)
    rows = run.steps.rows.copy()
    rows[:, run.steps.columns.index("learning_rate")] = [
        0.02 * 0.1 ** (step // every) for step in range(60)
    ]
    found = findings_in(
        "RE044", Evidence(trace=replace(run, steps=Columns(run.steps.columns, rows)))
    )
    assert len(found) == count


def layer(name: str, largest: float) -> Layer:
    """With weights of spread 0.1 between the negative of this and this."""
    facts = WeightFacts("weight", (8, 8), True, 0.0, 0.1, -largest, largest, f"{name}.weight")
    return Layer(name, "Linear", None, ((8, 8),), (8, 8), None, {"out_features": 8}, (facts,))


@pytest.mark.parametrize(("second", "sure"), [(0.1732, True), (0.4, False)])
def test_one_layer_as_it_was_made_is_enough_where_no_gradient_comes(
    second: float, *, sure: bool
) -> None:
    """An embedding is drawn from a normal distribution, the layer behind it from a uniform one."""
    names = ("embed", "rnn", "0")
    model = graph(TaskType.MULTI_CLASS, "cross_entropy", 3)
    held = tuple(ParameterFacts(f"{name}.weight", (8, 8), True, True) for name in names)
    rows = [[step, number, float(number == 2)] for step in range(6) for number in range(3)]
    run = trace(
        [1.0] * 20,
        graph=replace(model, layers=(layer("embed", 0.4), layer("rnn", second), *model.layers)),
        layer_names=names,
        parameter_facts=held,
        parameters=Columns(("step", "parameter", "grad_present"), np.array(rows)),
    )
    (found,) = findings_in("RE013", Evidence(trace=run))
    assert found.saw == "embed.weight, rnn.weight: never reached by a gradient"
    assert (found.confidence > 0.5) is sure


@pytest.mark.parametrize(
    ("decay", "last", "sure"),
    [
        (0.1, 1.2, Certainty.STRONG),
        (0.06, 1.2, Certainty.HINT),
        (0.1, 0.05, Certainty.HINT),
    ],
)
def test_a_decay_in_the_gradient_of_a_training_that_does_not_learn(
    decay: float, last: float, sure: Certainty
) -> None:
    adam = OptimizerFacts("Adam", 0.001, {"weight_decay": decay}, None, 2)
    model = replace(graph(TaskType.MULTI_CLASS, "cross_entropy", 3), optimizer=adam)
    losses = [1.5 + (last - 1.5) * step / 59 for step in range(60)]
    text = f"optimizer = torch.optim.Adam(model.parameters(), lr=0.001, weight_decay={decay})\n"
    seen = replace(
        evidence_of(f"import torch\n{text}", run=False),
        trace=trace(losses, graph=model),
    )
    (found,) = findings_in("RE016", seen)
    assert found.certainty is sure


@pytest.mark.parametrize(("alone", "health"), [(0.79, Health.FAILS), (0.1, Health.UNCLEAR)])
def test_a_loss_of_no_known_kind_that_does_not_fall_on_one_batch_either(
    alone: float, health: Health
) -> None:
    model = replace(graph(TaskType.REGRESSION, "mse", 1), loss=None)
    course = [1.30 - 0.02 * step / 59 for step in range(60)]
    losses = tuple(0.8 + (alone - 0.8) * step / 99 for step in range(100))
    tried = Experiments(one_batch=OneBatch(100, losses, None))
    made = trace(course, graph=model, data=(QUANTITIES,))
    assert health_of(Evidence(trace=made, experiments=tried)) is health


@pytest.mark.parametrize(("rows", "loss", "count"), [(64, 0.91, 1), (64, 0.5, 0), (16, 0.91, 0)])
def test_labels_of_other_rows_that_fit_as_well_after_the_training(
    rows: int, loss: float, count: int
) -> None:
    """A loss of the program's own: nobody knows what a constant answer scores."""
    run = trace(
        [1.0 - step / 1000 for step in range(100)],
        graph=graph(TaskType.REGRESSION, "own_loss", 1),
        data=(QUANTITIES,),
    )
    tried = Experiments(permuted=PermutedLabels(rows, loss, (0.9, 0.92) * 8))
    found = findings_in("RE029", Evidence(trace=run, experiments=tried))
    saw = "loss 0.91 on 64 rows after the training; with the labels of other rows 0.91"
    assert [one.saw for one in found] == [saw] * count
    blind = replace(tried, behaviour=(Behaviour("Net", at_end=True, order_blind=True),))
    found = findings_in("RE029", Evidence(trace=run, experiments=blind))
    order = "; attention without positions does not see the order of a sequence"
    assert [one.saw for one in found] == [saw + order] * count


def test_a_difference_written_by_hand_of_each_output_with_all_labels() -> None:
    place = Place(PurePosixPath("train.py"), 9)
    tried = Experiments(stretched=Stretched((24, 1), (24,), place))
    run = trace([1.0] * 20, graph=graph(TaskType.REGRESSION, "own_loss", 1), data=(QUANTITIES,))
    (found,) = findings_in("RE033", Evidence(trace=run, experiments=tried))
    assert found.saw == "output (24, 1) and target (24,) broadcast to (24, 24)"
    assert found.place == place
    assert not findings_in("RE033", Evidence(trace=run))


def decayed(optimizer: str, decay: float, left: float, losses: list[float]) -> list[Certainty]:
    """RE016 on a run whose normalisation layer ends with this share of its weights."""
    made = OptimizerFacts(optimizer, 0.001, {"weight_decay": decay}, None, 2)
    model = replace(graph(TaskType.MULTI_CLASS, "cross_entropy", 3), optimizer=made)
    rows = [[step, 0, 1 + (left - 1) * step / 5] for step in range(6)]
    run = trace(
        losses,
        graph=model,
        parameter_facts=(ParameterFacts("block.norm.weight", (8,), True, True),),
        parameters=Columns(("step", "parameter", "weight_mean_abs"), np.array(rows)),
    )
    text = (
        f"import torch\nopt = torch.optim.{optimizer}(model.parameters(), lr=0.001, "
        f"weight_decay={decay})\n"
    )
    return [
        one.certainty
        for one in findings_in("RE016", replace(evidence_of(text, run=False), trace=run))
    ]


STILL, FALLS = [1.1] * 60, [1.1 * 0.9**step for step in range(60)]


@pytest.mark.parametrize(
    ("optimizer", "decay", "left", "losses", "sure"),
    [
        ("AdamW", 2.0, 0.9, STILL, [Certainty.STRONG]),
        ("AdamW", 0.5, 0.9, STILL, [Certainty.HINT]),
        ("AdamW", 0.3, 0.2, STILL, [Certainty.STRONG]),
        ("Adam", 0.02, 0.2, STILL, [Certainty.STRONG]),
        ("AdamW", 2.0, 0.9, FALLS, []),
        ("AdamW", 0.3, 0.2, FALLS, []),
        ("AdamW", 0.3, 0.9, STILL, []),
        ("Adam", 0.001, 0.2, STILL, []),
    ],
)
def test_a_decay_that_takes_the_weights_of_norms_where_nothing_is_learned(
    optimizer: str,
    decay: float,
    left: float,
    losses: list[float],
    sure: list[Certainty],
) -> None:
    assert decayed(optimizer, decay, left, losses) == sure


@pytest.mark.parametrize(
    ("size", "evaluation", "count"),
    [(8, 0.9, 1), (8, 0.12, 0), (32, 0.9, 0), (2, 0.12, 1)],
)
def test_statistics_of_small_batches_that_do_not_fit(
    size: int, evaluation: float, count: int
) -> None:
    model = graph(TaskType.MULTI_CLASS, "cross_entropy", 3)
    norm = Layer("norm", "BatchNorm1d", None, ((None, 8),), (None, 8), None, {}, ())
    run = trace(
        [1.0 - step / 100 for step in range(90)],
        graph=replace(model, layers=(norm, *model.layers)),
    )
    rows = run.steps.rows.copy()
    rows[:, run.steps.columns.index("batch_size")] = size
    run = replace(run, steps=Columns(run.steps.columns, rows))
    tried = Experiments(modes=LossByMode(0.1, evaluation))
    found = findings_in("RE052", Evidence(trace=run, experiments=tried))
    modes = "; loss 0.1 in training mode, 0.9 in evaluation mode" if evaluation > 0.5 else ""
    assert [one.saw for one in found] == [
        f"BatchNorm1d norm is trained with batches of {size}{modes}"
    ] * count
