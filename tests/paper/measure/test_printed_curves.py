"""Lines in which programs report their training, in the styles that are about."""

from __future__ import annotations

import pytest

from reenact.codegen.runner import PRINTED
from reenact.paper.measure.curves import (
    MOST_CURVES,
    MOST_POINTS,
    WITHIN,
    Curve,
    curves_of,
    is_curve,
    printed_row,
)


@pytest.mark.parametrize(
    ("line", "label", "place", "values"),
    [
        (
            "sgd: epoch 10 of 100, training loss 0.12",
            "sgd",
            (10, None, None),
            {"training loss": 0.12},
        ),
        (
            "[sgd] Epoch [3/10] Step [5/20] Loss: 0.2 | Val acc: 91.2%",
            "sgd",
            (3, None, True),
            {"Loss": 0.2, "Val acc": 91.2},
        ),
        ("{'loss': 0.2, 'epoch': 3.0}", "", (3, None, None), {"loss": 0.2}),
        (
            "{'method': 'damped', 'epoch': 3, 'loss': 2e-1}",
            "damped",
            (3, None, None),
            {"loss": 0.2},
        ),
        (
            "Epoch 3: train loss=0.31, val loss=0.4 (12.3s)",
            "",
            (3, None, None),
            {"train loss": 0.31, "val loss": 0.4},
        ),
        (
            "2024-01-01 12:00:00,123 INFO epoch 3 loss .2 lr 1e-3",
            "",
            (3, None, None),
            {"loss": 0.2},
        ),
        (
            "step 100 loss -0.3 top-5 acc 0.9 acc@1 0.5",
            "",
            (None, 100, None),
            {"loss": -0.3, "top-5 acc": 0.9, "acc@1": 0.5},
        ),
        (
            "Train: loss 0.3, acc 0.8 | Val: loss 0.4, acc 0.7 (epoch 4)",
            "",
            (4, None, None),
            {"Train loss": 0.3, "Train acc": 0.8, "Val loss": 0.4, "Val acc": 0.7},
        ),
        (
            "seed 0 method=damped epoch=3 error rate=0.2",
            "damped",
            (3, None, None),
            {"error rate": 0.2},
        ),
        (
            "Training loss after epoch 3: 0.25",
            "",
            (3, None, None),
            {"Training loss": 0.25},
        ),
        (
            "noise 0.3: epoch 3 of 10, loss 0.2",
            "noise 0.3",
            (3, None, None),
            {"loss": 0.2},
        ),
        ("[ResNet18] Epoch 3/10 loss 0.3", "ResNet18", (3, None, None), {"loss": 0.3}),
        (
            "ours k=10 | epoch 2 | val acc 91.2%",
            "ours k 10",
            (2, None, None),
            {"val acc": 91.2},
        ),
        ("loss 0.3 epoch 3 acc 0.2", "", (3, None, None), {"loss": 0.3, "acc": 0.2}),
        (
            "iter 10: loss 0.5, time 12.0ms, mfu 3.4%",
            "",
            (None, 10, None),
            {"loss": 0.5, "mfu": 3.4},
        ),
    ],
)
def test_a_line_is_understood(
    line: str, label: str, place: object, values: dict[str, float]
) -> None:
    row = dict(printed_row(line))
    assert tuple(row.pop(name, None) for name in ("epoch", "step", WITHIN)) == place
    assert row.pop("method", "") == label
    assert {name: value for name, value in row.items() if is_curve(name)} == values


@pytest.mark.parametrize(
    "line", ["", "done", "12 34 56", "v1.2.3", "2024-01-01", "loading cifar10"]
)
def test_a_line_without_a_named_number_tells_nothing(line: str) -> None:
    assert not printed_row(line)


def test_a_value_that_is_no_number_is_kept_as_none() -> None:
    (curve,) = printed("epoch 1 loss 0.5", "epoch 2 loss nan", "epoch 3 loss inf")
    assert curve.values == (0.5, None, None)


def test_an_epoch_that_is_no_number_is_no_place() -> None:
    huge = "9" * 400
    (curve,) = printed(
        "epoch 1 loss 0.5",
        f"epoch {huge} loss 0.4",
        "epoch nan loss 0.3",
        "epoch 2 loss 0.2",
    )
    assert curve.at == (1, 2)


def printed(*lines: str) -> list[Curve]:
    return list(curves_of({PRINTED: "\n".join(lines)}))


def test_two_methods_that_report_in_turn_are_two_curves() -> None:
    found = printed(
        "a: epoch 1, loss 3",
        "b: epoch 1, loss 5",
        "a: epoch 2, loss 2",
        "b: epoch 2, loss 4",
    )
    assert [(one.label, one.metric, one.values) for one in found] == [
        ("a", "loss", (3.0, 2.0)),
        ("b", "loss", (5.0, 4.0)),
    ]


def test_epochs_that_start_over_are_another_training() -> None:
    lines = [f"epoch {epoch} acc {epoch / 10}" for epoch in (1, 2, 3, 1, 2)]
    assert [(one.label, one.at) for one in printed(*lines)] == [
        ("", (1, 2, 3)),
        ("(2)", (1, 2)),
    ]


def test_kerass_epoch_stands_above_its_values() -> None:
    lines = []
    for epoch in (1, 2):
        lines += [
            f"Epoch {epoch}/2",
            "1/9 - 0s - 5ms/step - loss: 9.0",
            f"9/9 - 1s - loss: {epoch}.5",
        ]
    found = printed(*lines, "", "", "", "test_loss: 7", "test_loss: 8")
    assert [(one.metric, one.axis, one.at, one.values) for one in found] == [
        ("loss", "epoch", (1, 2), (1.5, 2.5))
    ]


def test_steps_within_an_epoch_are_counted_as_they_come() -> None:
    lines = [f"epoch {epoch} step {step}/4 loss 1" for epoch in (1, 2) for step in (2, 4)]
    (counted,) = printed(*lines)
    assert (counted.axis, counted.at) == ("report", (1, 2, 3, 4))


def test_metrics_at_the_end_are_no_curves() -> None:
    assert printed("test_accuracy: 91.2", "test_accuracy: 91.3", "epoch 1 loss 2") == []


def test_curves_are_few_and_short_whatever_is_printed() -> None:
    (curve,) = printed(*(f"step {step} loss {step} m{step} 1" for step in range(5 * MOST_POINTS)))
    assert len(curve.at) <= MOST_POINTS + 1
    assert curve.at[-1] == 5 * MOST_POINTS - 1
    methods = (f"method{number}" for number in range(3 * MOST_CURVES))
    found = printed(*(f"{method}: epoch {epoch} loss 1" for method in methods for epoch in (1, 2)))
    assert len(found) <= MOST_CURVES
