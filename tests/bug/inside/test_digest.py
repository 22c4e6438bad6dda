"""Values as leaves: equal values have equal leaves, without addresses, and nothing of the value
is run.
"""

from __future__ import annotations

from collections import OrderedDict
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from reenact.bug.inside.digest import ITEMS, Digest, raised_leaf


def leaves(value: Any) -> dict[str, str]:
    return Digest().add("x", value).leaves


class Slotted:
    __slots__ = ("a", "unset")

    def __init__(self, a: int) -> None:
        self.a = a


class Hostile:
    """Every way of asking it for something raises."""

    def __init__(self) -> None:
        self.state = 1

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __repr__(self) -> str:
        raise RuntimeError

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    __hash__ = None  # type: ignore[assignment]


PAIRS = {
    "number": (1, 2),
    "whole and float": (1, 1.0),
    "long text": ("a" * 500, "a" * 499 + "b"),
    "list": ([1, [2]], [1, [3]]),
    "long list": (list(range(100)), [*range(99), 0]),
    "tuple and list": ((1,), [1]),
    "key": ({"a": 1}, {"b": 1}),
    "one key more": ({"a": 1}, {"a": 1, "b": 2}),
    "value": (OrderedDict(a=1), OrderedDict(a=2)),
    "set": ({1, 2}, {1, 3}),
    "class": (int, float),
    "array": (np.zeros(3), np.ones(3)),
    "dtype": (np.zeros(3), np.zeros(3, dtype="float32")),
    "shape": (np.zeros((2, 3)), np.zeros((3, 2))),
    "scalar": (np.float32(1), np.float32(2)),
    "tensor": (torch.zeros(3), torch.ones(3)),
    "half": (torch.zeros(3, dtype=torch.bfloat16), torch.ones(3, dtype=torch.bfloat16)),
    "no dimension": (torch.tensor(1.0), torch.tensor(2.0)),
    "gradient wanted": (torch.zeros(3), torch.zeros(3, requires_grad=True)),
    "attribute": (SimpleNamespace(a=1), SimpleNamespace(a=2)),
    "slot": (Slotted(1), Slotted(2)),
    "exception": (ValueError("a"), ValueError("b")),
}


@pytest.mark.parametrize("what", PAIRS)
def test_different_values_differ_and_equal_ones_do_not(what: str) -> None:
    import copy

    one, other = PAIRS[what]
    assert leaves(one) != leaves(other)
    assert leaves(one) == leaves(copy.deepcopy(one))


def test_no_address_and_no_code_of_the_value() -> None:
    assert leaves(Hostile()) == {"x": "object Hostile", "x.state": "1"}
    assert leaves(object()) == leaves(object())
    assert raised_leaf(ValueError("<A at 0x7f01>")) == raised_leaf(ValueError("<A at 0xbeef>"))


def test_cycles_and_depth_end() -> None:
    loop: list[Any] = [1]
    loop.append(loop)
    assert leaves(loop)["x[1]"] == "seen before"
    deep: list[Any] = []
    for _ in range(50):
        deep = [deep]
    digest = Digest().add("x", deep)
    assert digest.closed
    assert len(digest.leaves) < 20


def test_what_cannot_be_looked_into_is_marked() -> None:
    graph = torch.zeros(2, requires_grad=True) * 2
    for value in (graph, object(), iter([1]), np.array([object()])):
        assert Digest().add("x", value).closed
    for value in (
        1,
        [1],
        torch.zeros(2, requires_grad=True),
        len,
        SimpleNamespace(a=1),
    ):
        assert not Digest().add("x", value).closed
    assert Digest().add("x", [[1]] * (ITEMS + 1)).closed
    assert not Digest().add("x", [[1]] * ITEMS).closed


def test_a_gradient_is_part_of_a_parameter() -> None:
    one, two = (torch.zeros(2, requires_grad=True) for _ in range(2))
    (one * 3).sum().backward()
    (two * 4).sum().backward()
    assert leaves(one)["x.grad[:]"] != leaves(two)["x.grad[:]"]


def test_a_number_too_long_to_write_is_closed() -> None:
    digest = Digest().add("x", 10**6000)
    assert digest.closed
    assert digest.leaves == {"x": "closed: int, ValueError"}
