"""Names that people give to the same metric."""

from __future__ import annotations

import pytest

from reenact.probe.trace import metric_name


@pytest.mark.parametrize(
    ("logged", "metric"),
    [
        ("Loss/train", "loss"),
        ("train_loss_step", "loss"),
        ("epoch_loss", "loss"),
        ("valid.acc", "val_accuracy"),
        ("test/Accuracy", "test_accuracy"),
        ("trainLoss", "loss"),
        ("lr-Adam", "learning_rate"),
        ("train/learning_rate", "learning_rate"),
        ("eval/loss", "val_loss"),
        ("grad_norm", "grad_norm"),
        ("train", "train"),
    ],
)
def test_names_that_mean_the_same(logged: str, metric: str) -> None:
    assert metric_name(logged) == metric
