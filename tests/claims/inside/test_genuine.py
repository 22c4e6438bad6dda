"""Only types that Python, a library or the project really have are believed."""

from __future__ import annotations

import collections
import functools
from typing import Any

import numpy as np
import pytest
import torch

from reenact.bug.symptom import Symptom
from reenact.claims.inside.genuine import (
    contradiction,
    is_genuine,
    lying_class,
    made_plain,
)


class Liar(float):
    __module__ = "builtins"
    tolist = functools.partial(float, "nan")


class Claims(torch.Tensor):
    __module__ = "torch"


Claims.__qualname__ = "Claimed"


@pytest.mark.parametrize(
    "value",
    [
        1,
        [1.0, ("a", {"b": {2}})],
        np.float64(1),
        np.bool_(True),
        np.zeros(3),
        torch.zeros(3),
        torch.nn.Parameter(torch.zeros(1)),
        torch.zeros(2).shape,
        torch.float32,
        collections.OrderedDict(a=1),
        collections.Counter("ab"),
        {"a": 1}.keys(),
        Symptom,
    ],
)
def test_what_libraries_define_is_believed(value: Any) -> None:
    assert lying_class(value) == ""


@pytest.mark.parametrize(
    "value",
    [Liar(1), [Liar(1)], {"a": (Liar(1),)}, {Liar(1): 1}, Claims(), collections.deque],
)
def test_a_class_that_lies_about_its_module_is_not(value: Any) -> None:
    lies = value is not collections.deque
    assert bool(lying_class(value)) == lies


def test_a_class_made_within_a_function_belongs_to_its_code() -> None:
    class Inner:
        def method(self) -> None: ...

    assert is_genuine(Inner)
    Inner.__module__ = "builtins"
    assert not is_genuine(Inner)


def script_class(name: str, *bases: type, **members: Any) -> Any:
    """A class as a script has it: its module does not have it."""
    return type(name, bases, {"__module__": "__main__", **members})


def test_a_list_of_the_script_answers_as_a_list_does() -> None:
    inner = script_class("Inner", list, __iter__=lambda self: iter([]))
    kind = script_class("Values", inner, __len__=lambda self: 0, largest=lambda self: max(self))
    values = kind([1, 3])
    assert made_plain(kind) == "list"
    assert (len(values), list(values), values.largest()) == (2, [1, 3], 3)
    assert made_plain(kind) == "", "nothing is left to be taken"


@pytest.mark.parametrize(
    "kind", [collections.OrderedDict, Symptom, script_class("Plain", largest=max)]
)
def test_classes_of_libraries_and_of_their_own_keep_what_they_have(kind: type) -> None:
    before = dict(vars(kind))
    assert made_plain(kind) == ""
    assert dict(vars(kind)) == before


@pytest.mark.parametrize(
    ("length", "items", "words"),
    [
        (0, [1, 2], "says that it has 0 items, and gives more"),
        (3, [1, 2], "says that it has 3 items, and gives 2"),
        (2, [1, 2], ""),
        (20_000, range(20_000), ""),
    ],
)
def test_an_object_that_contradicts_itself(length: int, items: Any, words: str) -> None:
    kind = script_class("Values", __len__=lambda self: length, __iter__=lambda self: iter(items))
    found = contradiction(kind())
    assert words in found
    assert bool(found) is bool(words)


def test_items_by_position_may_go_on_without_an_end() -> None:
    data = script_class("Data", __len__=lambda self: 2, __getitem__=lambda self, at: at)
    assert contradiction(data()) == ""
