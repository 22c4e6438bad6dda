"""What the formula of a loss can reach."""

from __future__ import annotations

import math

import pytest

from reenact.program.training.loss_families import least_value


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("cross_entropy", 0.0),
        ("binary_cross_entropy_with_logits", 0.0),
        ("sparse_categorical_crossentropy", 0.0),
        ("mse", 0.0),
        ("l1", 0.0),
        ("hinge", 0.0),
        ("kl_div", 0.0),
        ("kl_divergence", 0.0),
        ("triplet_margin", 0.0),
        ("cosine_similarity", -1.0),
        ("gaussian_nll", -math.inf),
        ("poisson", -math.inf),
        ("wasserstein", None),
        ("", None),
    ],
)
def test_the_least_value_of_a_loss(name: str, least: float | None) -> None:
    assert least_value(name) == least
