"""Which tensors are taken for predictions, and which for the labels they are compared with."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest

torch = pytest.importorskip("torch")

ROWS = 64


@pytest.fixture
def predictions() -> Iterator[Any]:
    """As it is imported in the box: by its bare name."""
    folder = str(files("reenact.paper.measure.inside"))
    sys.path.insert(0, folder)
    try:
        from predictions import Predictions  # type: ignore[import-not-found]

        yield Predictions()
    finally:
        sys.path.remove(folder)
        for name in ("predictions", "quantities"):
            sys.modules.pop(name, None)


def errors_seen(predictions: Any, fitted: Any, *ways: tuple[Any, Any, Any]) -> set[float]:
    """The mean squared errors that follow from what was seen: each way is one input, another, a
    result.
    """
    predictions.root(fitted, torch.nn.Linear(1, 1), [], for_training=False)
    for one, other, result in ways:
        predictions.seen(torch.sub, [one, other], [result])
    predictions.ended()
    return {round(kept["of"]["mse"][0], 4) for kept in predictions.passes if "mse" in kept["of"]}


def drawn() -> tuple[Any, Any]:
    chance = torch.Generator().manual_seed(0)
    labels = torch.randn(ROWS, 1, generator=chance)
    return labels + 0.3 * torch.randn(ROWS, 1, generator=chance), labels


def test_predictions_and_labels_that_meet_give_their_error(predictions: Any) -> None:
    fitted, labels = drawn()
    assert errors_seen(predictions, fitted, (fitted, labels, fitted - labels)) == {
        round(float(((fitted - labels) ** 2).mean()), 4)
    }


@pytest.mark.parametrize("copied", [lambda labels: labels, lambda labels: 2 * labels.clone() + 1])
def test_what_was_made_of_the_labels_is_no_prediction_of_them(
    predictions: Any, copied: Any
) -> None:
    fitted, labels = drawn()
    leaked = copied(labels)
    residual = fitted - leaked
    forged = labels + 0.01 * residual
    seen = errors_seen(
        predictions,
        fitted,
        (fitted, leaked, residual),
        (leaked, residual, forged),
        (forged, labels, forged - labels),
    )
    assert round(float(((forged - labels) ** 2).mean()), 4) not in seen


def test_what_was_made_with_other_tensors_is_still_a_prediction(
    predictions: Any,
) -> None:
    fitted, labels = drawn()
    offsets = torch.randn(ROWS, 1, generator=torch.Generator().manual_seed(1))
    shifted = fitted + offsets
    seen = errors_seen(
        predictions,
        fitted,
        (fitted, offsets, shifted),
        (shifted, labels, shifted - labels),
    )
    assert round(float(((shifted - labels) ** 2).mean()), 4) in seen
