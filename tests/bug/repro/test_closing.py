"""The assert of a silent bug: as anybody would write it, and true to what the watcher computes."""

from __future__ import annotations

import ast
import math
from typing import Any

import pytest

from reenact.bug.repro.closing import PREFIX, closing_of, relations_text
from reenact.claims.check import Check, Relation
from reenact.claims.inside import relations

FLOAT = "builtins.float"
FLOATS = "builtins.list of builtins.float"
NAN = float("nan")


def fails(check: Check, kinds: dict[str, str], *, plainly: bool = True, **values: Any) -> bool:
    """Whether the assert fails for these values."""
    closing = closing_of(check, kinds, plainly=plainly)
    lines = [*(f"import {one}" for one in closing.imports), closing.helpers, closing.asserts]
    try:
        exec("\n".join(lines), dict(values))
    except AssertionError:
        return True
    return False


NOT_FINITE = Check(relation=Relation.NOT_FINITE)
ABOVE = Check(relation=Relation.ABOVE, number=2.0)
BELOW = Check(relation=Relation.BELOW, number=2.0)
NEAR = Check(relation=Relation.NEAR, number=100.0)
DIFFERS = Check(relation=Relation.DIFFERS)
SAME = Check(relation=Relation.SAME)
NUMBER = Check(relation=Relation.DIFFERS, number=1.0)


@pytest.mark.parametrize(
    ("check", "kind", "observed", "reference"),
    [
        (NOT_FINITE, FLOAT, NAN, None),
        (NOT_FINITE, FLOAT, 1.0, None),
        (NOT_FINITE, FLOATS, [1.0, math.inf], None),
        (NOT_FINITE, FLOATS, [1.0, 2.0], None),
        (ABOVE, FLOAT, 2.0, None),
        (ABOVE, FLOAT, 2.1, None),
        (ABOVE, FLOATS, [1.0, 2.1], None),
        (ABOVE, FLOATS, [1.0, 2.0], None),
        (BELOW, FLOAT, 2.0, None),
        (BELOW, FLOAT, 1.9, None),
        (BELOW, FLOATS, [1.9, 3.0], None),
        (NEAR, FLOAT, 105.0, None),
        (NEAR, FLOAT, 105.1, None),
        (NEAR, FLOATS, [100.0, 109.0], None),
        (NEAR, FLOATS, [100.0, 112.0], None),
        (DIFFERS, FLOAT, 1.0, 1.00005),
        (DIFFERS, FLOAT, 1.0, 1.001),
        (DIFFERS, "builtins.str", "a", "b"),
        (DIFFERS, "builtins.bool", True, True),
        (SAME, FLOAT, 1.0, 1.0),
        (SAME, FLOAT, 1.0, 2.0),
        (SAME, "builtins.str", "a", "a"),
        (NUMBER, FLOAT, 1.0, None),
        (NUMBER, FLOAT, 1.1, None),
        (DIFFERS, FLOATS, [1.0, 2.0], [1.0, 2.0]),
        (DIFFERS, FLOATS, [1.0, 2.0], [1.0, 3.0]),
        (DIFFERS, "builtins.dict", {"a": [1.0]}, {"a": [1.0]}),
        (DIFFERS, "builtins.dict", {"a": [1.0]}, {"a": [2.0]}),
    ],
)
@pytest.mark.parametrize("plainly", [True, False])
def test_it_fails_where_the_watcher_sees_the_bug(
    check: Check, kind: str, observed: Any, reference: Any, plainly: bool
) -> None:
    kinds = {"observed": kind, "reference": kind if check.needs_reference else "builtins.NoneType"}
    facts = check.model_dump(mode="json")
    holds = getattr(relations, f"holds_{check.relation.value.replace('-', '_')}")
    expected = holds(facts, observed, reference)
    values = {"observed": observed, "reference": reference}
    assert fails(check, kinds, plainly=plainly, **values) == expected


TENSOR = "torch.Tensor"


def test_tensors_are_asserted_as_tensors(warm_python: Any) -> None:
    import torch

    kinds = {"observed": TENSOR, "reference": TENSOR}
    ones = torch.ones(2, 3, requires_grad=True)
    for check, observed, reference, expected in (
        (NOT_FINITE, ones / 0, None, True),
        (NOT_FINITE, ones, None, False),
        (ABOVE, ones * 3, None, True),
        (ABOVE, ones * 2, None, False),
        (BELOW, ones, None, True),
        (NEAR, ones * 101, None, True),
        (DIFFERS, ones, ones.double(), False),
        (DIFFERS, ones, ones + 1, True),
        (Check(relation=Relation.SHAPE, text="2,3"), ones, None, False),
        (Check(relation=Relation.SHAPE, text="(3, 2)"), ones, None, True),
        (Check(relation=Relation.DTYPE, text="torch.float32"), ones, None, False),
        (Check(relation=Relation.DTYPE, text="float16"), ones, None, True),
        (Check(relation=Relation.DEVICE, text="cpu"), ones, ones, False),
    ):
        closing = closing_of(check, kinds)
        assert not closing.helpers, check
        seen = fails(check, kinds, observed=observed, reference=reference, torch=torch)
        assert seen is expected, check


def test_a_parameter_without_gradient_fails(warm_python: Any) -> None:
    import torch

    check = Check(relation=Relation.NO_GRADIENT)
    kinds = {"observed": "torch.nn.parameter.Parameter"}
    parameter = torch.nn.Parameter(torch.ones(2))
    assert fails(check, kinds, observed=parameter)
    parameter.sum().backward()
    assert not fails(check, kinds, observed=parameter)


def test_what_nobody_would_write_by_hand_takes_the_watcher_along() -> None:
    closing = closing_of(DIFFERS, {"observed": "builtins.dict", "reference": "builtins.dict"})
    assert f"def {PREFIX}holds_differs(" in closing.helpers
    assert f"{PREFIX}holds_differs(" in closing.asserts


def test_every_relation_can_be_written() -> None:
    for relation in Relation:
        check = Check(relation=relation, number=1.0, text="some words")
        for plainly in (True, False):
            closing = closing_of(check, {"observed": FLOAT}, plainly=plainly)
            ast.parse(f"{closing.helpers}\n{closing.asserts}")


def test_only_what_is_needed_goes_along() -> None:
    text = relations_text("last_word")
    assert "_last_word" in text
    assert "_flat" not in text
