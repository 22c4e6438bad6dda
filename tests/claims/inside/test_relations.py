"""Relations between what was observed and what should be: numbers, lists, tensors, gradients."""

from __future__ import annotations

import math
from typing import Any

import pytest

from reenact.claims.inside import relations


def check(number: float | None = None, text: str = "", tolerance: float = 1e-4) -> dict[str, Any]:
    return {"number": number, "text": text, "tolerance": tolerance}


@pytest.mark.parametrize(
    ("relation", "given", "observed", "reference", "shows"),
    [
        (relations.holds_not_finite, check(), [1.0, math.nan], None, True),
        (relations.holds_not_finite, check(), {"a": [1.0, math.inf]}, None, True),
        (relations.holds_not_finite, check(), [1, 2.0, "nan"], None, False),
        (relations.holds_differs, check(), 1.0, 1.00001, False),
        (relations.holds_differs, check(), 1.0, 1.1, True),
        (relations.holds_differs, check(1.0), 1.0, None, False),
        (relations.holds_differs, check(), [1, 2], [1, 2, 3], True),
        (relations.holds_differs, check(), [[1, 2]], [1, 2], True),
        (relations.holds_differs, check(), [1.0], 1.0, False),
        (relations.holds_differs, check(), math.nan, math.nan, False),
        (relations.holds_differs, check(), None, 1.0, True),
        (relations.holds_differs, check(), {"a": 1}, {"a": 1}, False),
        (relations.holds_same, check(), [0.25, 0.5], [0.25, 0.5], True),
        (relations.holds_same, check(), [0.25, 0.5], [0.5, 0.25], False),
        (relations.holds_near, check(100.0), 104.0, None, True),
        (relations.holds_near, check(100.0), 106.0, None, False),
        (relations.holds_above, check(1.0), [0.5, 2.0], None, True),
        (relations.holds_below, check(1.0), [1.5, 2.0], None, False),
        (relations.holds_shape, check(text="(2, 3)"), [[1, 2, 3], [4, 5, 6]], None, False),
        (relations.holds_shape, check(text="2,3"), [1, 2, 3], None, True),
        (relations.holds_dtype, check(text="int"), 1.0, None, True),
    ],
)
def test_relation(
    relation: Any, given: dict[str, Any], observed: Any, reference: Any, shows: bool
) -> None:
    assert relation(given, observed, reference) is shows


def test_no_number_is_a_sentence() -> None:
    with pytest.raises(ValueError, match="holds no number"):
        relations.holds_above(check(1.0), "text", None)


def test_tensors() -> None:
    import torch

    layer = torch.nn.Linear(2, 1)
    assert relations.holds_no_gradient(check(), list(layer.named_parameters()), None), (
        "no backward yet"
    )
    layer(torch.ones(1, 2)).sum().backward()
    assert not relations.holds_no_gradient(check(), layer.parameters(), None)
    assert relations.holds_no_gradient(check(), torch.zeros(2), None), "a gradient of zeros"
    frozen = torch.nn.Parameter(torch.ones(2), requires_grad=False)
    assert relations.holds_no_gradient(check(), [layer.weight, frozen], None)
    assert relations.holds_differs(check(), torch.tensor([1.0, 2.0]), [1.0, 2.5])
    assert not relations.holds_differs(check(), torch.tensor(1.0, dtype=torch.bfloat16), 1.0)
    assert not relations.holds_dtype(check(text="torch.float32"), torch.ones(1), None)
    assert relations.holds_dtype(check(), torch.ones(1).double(), torch.ones(1))
    assert relations.holds_device(check(text="cpu"), torch.ones(1, device="meta"), None)
    assert not relations.holds_shape(check(), torch.ones(2, 3), torch.zeros(2, 3))
    assert relations.holds_not_finite(check(), torch.tensor([1.0, float("nan")]), None)
