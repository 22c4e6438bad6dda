"""Only types that Python, a library or the project really have are believed."""

from __future__ import annotations

import collections
import functools
from typing import Any

import numpy as np
import pytest
import torch

from reenact.bug.inside.genuine import is_genuine, lying_class
from reenact.bug.symptom import Symptom


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
    "value", [Liar(1), [Liar(1)], {"a": (Liar(1),)}, {Liar(1): 1}, Claims(), collections.deque]
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
