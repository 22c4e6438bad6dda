"""What a torch module says of itself: its settings, its activation, where its units lie."""

from __future__ import annotations

import re
from typing import Any

from reenact_probe.types import Facts, Module

QUIET = frozenset({"Flatten", "Unflatten", "Identity", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d",
                   "AlphaDropout", "FeatureAlphaDropout", "ZeroPad2d", "PixelShuffle"})  # fmt: skip
_ACTIVATIONS_NAMES = """
ReLU ReLU6 LeakyReLU ELU SELU CELU GELU SiLU Mish Sigmoid Tanh Softmax LogSoftmax Softmin Softmax2d
Softplus Softsign Hardtanh Hardsigmoid Hardswish LogSigmoid PReLU RReLU GLU Tanhshrink Hardshrink
Threshold
"""
_ACTIVATIONS = frozenset(_ACTIVATIONS_NAMES.split())
_NAMES = {"SiLU": "silu", "GELU": "gelu", "Softmax2d": "softmax"}

WRAPPERS = {"OptimizedModule": "_orig_mod", "DistributedDataParallel": "module", "DataParallel": "module"}


def activation_of(module: Module) -> str | None:
    """The non-linearity a module is or applies, in lower case, or none."""
    name = type(module).__name__
    if name in _ACTIVATIONS:
        return _NAMES.get(name) or snake(name)
    nonlinearity = getattr(module, "nonlinearity", None)
    if isinstance(nonlinearity, str):
        return nonlinearity
    return "tanh" if name in ("LSTM", "GRU", "LSTMCell", "GRUCell") else None


def snake(name: str) -> str:
    """`CrossEntropyLoss` becomes `cross_entropy`, `LeakyReLU` becomes `leaky_relu`."""
    name = name.replace("ReLU", "Relu").replace("SELU", "Selu").replace("CELU", "Celu").replace("ELU", "Elu")
    name = name.replace("GLU", "Glu").replace("PRelu", "Prelu").replace("RRelu", "Rrelu")
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    name = name.lower()
    return name[: -len("_loss")] if name.endswith("_loss") and name != "_loss" else name


def settings_of(module: Module) -> Facts:
    """Plain values among a module's public attributes: units, kernel size, rate and so on."""
    found = {}
    for key in (*getattr(module, "__constants__", ()), *vars(module)):
        if key.startswith("_") or key in ("training", "call_super_init"):
            continue
        value = getattr(module, key, None)
        if is_plain(value):
            found[key] = list(value) if isinstance(value, tuple) else value
    return found


def is_plain(value: Any) -> bool:
    """Whether a value is JSON as it stands, or a short tuple of such."""
    if isinstance(value, (tuple, list)):
        return len(value) <= 8 and all(isinstance(item, (int, float, str, bool)) for item in value)
    return value is None or isinstance(value, (int, float, str, bool))


def unit_axis(module: Module) -> int | None:
    """Axis of the units in the output; none where the shape has to tell."""
    name = type(module).__name__
    return 1 if "Conv" in name or name.startswith(("BatchNorm", "InstanceNorm", "GroupNorm")) else None


def shape_of(value: Any) -> list[int] | None:
    shape = getattr(value, "shape", None)
    return [int(size) for size in shape] if shape is not None else None


def inner(module: Module) -> Module:
    """The model in a wrapper for compiling or for training in parallel: its mode is the one that counts."""
    while type(module).__name__ in WRAPPERS:
        wrapped = getattr(module, WRAPPERS[type(module).__name__], None)
        if wrapped is None:
            break
        module = wrapped
    return module
