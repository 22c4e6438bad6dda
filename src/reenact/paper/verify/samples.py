"""How a formula is computed in the project, as a model says it, and sample values for both sides."""

from __future__ import annotations

import math
from typing import Any

from pydantic import BaseModel, Field

from reenact.paper.criterion import Criterion
from reenact.paper.fingerprint.expression import Misfit, parsed, value_of

SAMPLES = 4
LARGEST = 8
"""Sizes of a sample input. Which criteria a judge is asked about, and so every recording, rests on it."""
LAID_OUT = 256
"""Numbers in a sample input that an argument reshapes: enough for a small tensor."""


class Input(BaseModel):
    """A free name of the expression, or one that arguments need."""

    name: str = Field(pattern=r"^[A-Za-z_]\w{0,40}$")
    low: float
    high: float
    shape: list[int] = Field(default_factory=list, max_length=2)


class Argument(BaseModel):
    """One parameter of the function."""

    parameter: str = Field(pattern=r"^[A-Za-z_]\w{0,80}$")
    expression: str = Field(max_length=300, description="Over the inputs.")


class Setup(BaseModel):
    """How one formula is computed in the project."""

    id: str = Field(max_length=20)
    file: str = Field(max_length=300)
    function: str = Field(pattern=r"^[A-Za-z_]\w{0,80}$")
    arguments: list[Argument] = Field(min_length=1, max_length=20)
    inputs: list[Input] = Field(min_length=1, max_length=20)
    tensors: bool = False


class Setups(BaseModel):
    """The formulas that can be called."""

    formulas: list[Setup] = Field(max_length=40)


def samples(setup: Setup, criterion: Criterion) -> tuple[tuple[dict[str, Any], ...], tuple[Any, ...]]:
    """Inputs of the function and what the formula gives. Raises Misfit when that says nothing."""
    import numpy as np

    assert criterion.check is not None
    expression = criterion.check.expression
    _, names = parsed(expression)
    if set(names) - {one.name for one in setup.inputs}:
        raise Misfit("an input of the formula has no range")
    tensors = [one.expression for one in setup.arguments if "reshape" in one.expression]
    laid_out = {name for text in tensors for name in parsed(text)[1]}
    given, expected = [], []
    for number in range(SAMPLES):
        chance = np.random.default_rng(number)
        inputs = {one.name: _drawn(one, chance, one.name in laid_out) for one in setup.inputs}
        expected.append(value_of(expression, inputs))
        arguments = {one.parameter: value_of(one.expression, inputs, free=False) for one in setup.arguments}
        given.append({name: _given(value) for name, value in arguments.items()})
    if not all(np.isfinite(one).all() for one in expected):
        raise Misfit("the formula is not finite in this range")
    if all(one.shape == expected[0].shape and np.allclose(one, expected[0]) for one in expected):
        raise Misfit("the formula gives the same for all samples")
    return tuple(given), tuple(expected)


def _given(value: Any) -> Any:
    """As JSON; a whole number stays one, for it may count something."""
    plain = value.tolist()
    return int(plain) if isinstance(plain, float) and plain.is_integer() else plain


def _drawn(one: Input, chance: Any, laid_out: bool) -> Any:
    fits = math.prod(one.shape) <= LAID_OUT if laid_out else max(one.shape, default=1) <= LARGEST
    if not one.low < one.high or min(one.shape, default=1) < 1 or not fits:
        raise Misfit(f"{one.name} has no usable range or shape")
    # A single precision number: what the project rounds, the formula must not see unrounded.
    return chance.uniform(one.low, one.high, one.shape).astype("float32").astype("float64")
