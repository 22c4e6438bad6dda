"""Activations, in all the ways they are written: argument, layer, function, tensor method, chosen by a
string."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import Enum, auto

from reenact.program.read import keras_words, torch_words
from reenact.program.read.callees import Callee
from reenact.program.read.names import last_name
from reenact.program.read.scope import Scope
from reenact.program.read.values import Found

FUNCTION_HOMES = (
    "torch.nn.functional.",
    "torch.",
    "torch.special.",
    "keras.ops.",
    "keras.activations.",
    "keras.ops.nn.",
)
TENSORFLOW_HOMES = ("tensorflow.nn.", "tensorflow.", "tensorflow.math.", "jax.nn.")


class Way(Enum):
    """How an activation is written."""

    ARGUMENT = auto()
    """`Dense(8, activation="relu")`, `Activation("relu")`."""
    LAYER = auto()
    """`nn.ReLU()`, `layers.LeakyReLU()`."""
    FUNCTION = auto()
    """`F.relu(x)`, `torch.relu(x)`, `keras.ops.relu(x)`."""
    METHOD = auto()
    """`x.relu()`."""


@dataclass(frozen=True, slots=True, eq=False)
class ActivationSite:
    """One place that applies an activation."""

    way: Way
    word: str
    """Our word for it: `relu`, `leaky_relu`."""
    call: ast.Call
    """The constructor, the application, or the layer that takes the argument."""
    scope: Scope
    callee: Callee | None = None
    found: Found | None = None
    """For an argument: its value and place."""


def activation_word(name: str) -> str:
    """Our word for what a library or a user calls an activation: `LeakyReLU` is `leaky_relu`."""
    if name in torch_words.ACTIVATION_BY_CLASS:
        return torch_words.ACTIVATION_BY_CLASS[name]
    if name in keras_words.ACTIVATION_LAYERS:
        return keras_words.ACTIVATION_LAYERS[name]
    word = name.rstrip("_").lower()
    return {"swish": "silu", "leakyrelu": "leaky_relu", "hard_swish": "hardswish"}.get(word, word)


def function_word(dotted: str) -> str:
    """Our word for an activation function by its canonical name, or empty."""
    name = last_name(dotted)
    home = dotted[: -len(name)]
    if home in FUNCTION_HOMES:
        known = torch_words.ACTIVATION_FUNCTIONS if home.startswith("torch") else keras_words.ACTIVATIONS
        return activation_word(name) if name.rstrip("_") in known else ""
    if home in TENSORFLOW_HOMES:
        return activation_word(name) if name in keras_words.ACTIVATIONS else ""
    return ""


def method_word(call: ast.Call) -> str:
    """Our word for an activation applied as a tensor method, or empty."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in torch_words.TENSOR_METHODS:
        return activation_word(call.func.attr)
    return ""
