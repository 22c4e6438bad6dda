"""What modules, losses and optimizers of torch say of themselves, as JSON of the model graph."""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy

from reenact_probe.places import is_library
from reenact_probe.torch import samples
from reenact_probe.torch.samples import plain, take
from reenact_probe.types import Facts, Kwargs, Library, Module, Optimizer, Place, Tensor

QUIET = frozenset(
    {
        "Flatten",
        "Unflatten",
        "Identity",
        "Dropout",
        "Dropout1d",
        "Dropout2d",
        "Dropout3d",
        "AlphaDropout",
        "FeatureAlphaDropout",
        "ZeroPad2d",
        "PixelShuffle",
    }
)
_FUNCTIONS = """
relu relu_ relu6 leaky_relu leaky_relu_ elu elu_ selu selu_ celu gelu silu mish sigmoid sigmoid_ tanh
tanh_ softmax log_softmax softmin softplus softsign hardtanh hardsigmoid hardswish logsigmoid log_sigmoid
prelu rrelu glu tanhshrink hardshrink threshold
"""
ACTIVATIONS = frozenset(_FUNCTIONS.split())
"""Non-linearities: functions of torch, and its classes in lower case."""
_NAMES = {
    "SiLU": "silu",
    "GELU": "gelu",
    "Softmax2d": "softmax",
}
WRAPPERS = {
    "OptimizedModule": "_orig_mod",
    "DistributedDataParallel": "module",
    "DataParallel": "module",
}
_EXACT = 1 << 20
"""Weights up to this size are measured whole."""


def library_kind(module: Module) -> str:
    """What a library calls the class of a module, or the one that it derives from; empty for a
    module of the program's own, whose name says nothing.
    """
    for kind in type(module).__mro__:
        home = getattr(sys.modules.get(kind.__module__), "__file__", None)
        if home is not None and is_library(home):
            if kind.__name__ == "Module":
                return ""
            return kind.__name__
    return ""


def activation_of(module: Module) -> str | None:
    """The non-linearity a module is or applies, in lower case, or none."""
    name = library_kind(module)
    function = _NAMES.get(name) or snake(name)
    if function in ACTIVATIONS:
        return function
    nonlinearity = getattr(module, "nonlinearity", None)
    if name and isinstance(nonlinearity, str):
        return nonlinearity
    if name in ("LSTM", "GRU", "LSTMCell", "GRUCell"):
        return "tanh"
    return None


def snake(name: str) -> str:
    """`CrossEntropyLoss` becomes `cross_entropy`, `LeakyReLU` becomes `leaky_relu`."""
    name = (
        name.replace("ReLU", "Relu")
        .replace("SELU", "Selu")
        .replace("CELU", "Celu")
        .replace("ELU", "Elu")
    )
    name = (
        name.replace("GLU", "Glu")
        .replace("PRelu", "Prelu")
        .replace(
            "RRelu",
            "Rrelu",
        )
    )
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
    if name.endswith("_loss") and name != "_loss":
        return name[: -len("_loss")]
    return name


def settings_of(module: Module) -> Facts:
    """Plain values among a module's public attributes: units, kernel size, rate and so on."""
    keys = (
        *getattr(module, "__constants__", ()),
        *vars(module),
    )
    known = [
        key
        for key in keys
        if not key.startswith("_") and key not in ("training", "call_super_init")
    ]
    values = plain_values({key: getattr(module, key, None) for key in known})
    return {
        key: list(value) if isinstance(value, tuple) else value for key, value in values.items()
    }


def plain_values(values: Kwargs) -> Facts:
    """Those of these values that are JSON."""
    return {key: value for key, value in values.items() if is_plain(value)}


def is_plain(value: Any) -> bool:
    """Whether a value is JSON unchanged, or a short tuple of such."""
    if isinstance(value, (tuple, list)):
        return len(value) <= 8 and all(isinstance(item, (int, float, str, bool)) for item in value)
    return value is None or isinstance(value, (int, float, str, bool))


def unit_axis(module: Module) -> int | None:
    """Axis of the units in the output; none where the shape has to tell."""
    name = library_kind(module)
    if "Conv" in name or name.startswith(("BatchNorm", "InstanceNorm", "GroupNorm")):
        return 1
    return None


def shape_of(value: Any) -> list[int] | None:
    shape = getattr(value, "shape", None)
    if shape is not None:
        return [int(size) for size in shape]
    return None


def inner(module: Module) -> Module:
    """The model in a wrapper for compiling or for training in parallel: its mode is the one
    that counts.
    """
    wrapped = getattr(module, WRAPPERS.get(type(module).__name__, ""), None)
    return module if wrapped is None else inner(wrapped)


# Losses
# ---------------------------------------------------------------------------------------------------

_LOSS_NAMES = {
    "BCELoss": "binary_cross_entropy",
    "BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
}
_LOGITS = (
    "cross_entropy",
    "binary_cross_entropy_with_logits",
    "multilabel_soft_margin",
    "soft_margin",
)
_FROM_LOGITS = {
    **dict.fromkeys(_LOGITS, True),
    "binary_cross_entropy": False,
    "nll": False,
}
_LOSS_NODES = """
NllLoss BinaryCrossEntropy BinaryCrossEntropyWithLogits MseLoss SmoothL1Loss HuberLoss SoftMarginLoss
MultiMarginLoss CtcLoss
"""
_NODES = {
    **{f"{name}Backward": snake(name) for name in _LOSS_NODES.split()},
    "NllLoss2DBackward": "nll",
    "NllLossNdBackward": "nll",
    "MultilabelMarginLossForwardBackward": "multilabel_margin",
}
_BY_HAND = {
    "PowBackward": "mse",
    "MulBackward": "mse",
    "AbsBackward": "l1",
}
"""`((p - y) ** 2).mean()` and `(p - y).abs().mean()`: what is done to the difference."""
_BENDING = (
    "Softmax LogSoftmax Sigmoid LogSigmoid Tanh Relu LeakyRelu Elu Gelu Silu Softplus Hardsigmoid"
)
_BENDS = {f"{name}Backward": snake(name) for name in _BENDING.split()}
"""Nodes of autograd that activate what passes, in the words of layers."""
_SHAPE_ONLY_NAMES = """
Alias AsStrided Clone Contiguous Expand Flip Gather Index IndexSelect MaskedSelect Permute Repeat ReshapeAlias
Roll Select Slice Squeeze T ToCopy Transpose UnsafeView Unsqueeze View
"""
_SHAPE_ONLY = frozenset(f"{name}Backward" for name in _SHAPE_ONLY_NAMES.split())
"""Nodes that move values and leave them what they are."""
WEIGHTS = ("weight", "pos_weight")
_REDUCTIONS = {
    0: "none",
    1: "mean",
    2: "sum",
}
_DEPTH = 12


def loss_facts(written: str, settings: Facts, place: Place | None) -> Facts:
    """Facts of a loss: its class or function, as it is written."""
    name = _LOSS_NAMES.get(written) or snake(written)
    return {
        "name": name,
        "from_logits": _FROM_LOGITS.get(name),
        "settings": settings,
        "place": place,
    }


def module_loss(module: Module, place: Place | None) -> Facts:
    """Facts of a loss that is a module."""
    given = {name: getattr(module, name, None) for name in WEIGHTS}
    settings = {**settings_of(module), **weights_given(given)}
    return loss_facts(type(module).__name__, settings, place)


def weights_given(values: Kwargs) -> Facts:
    """Which weights of classes a loss was given."""
    return {name: "given" for name in WEIGHTS if values.get(name) is not None}


class LossNode(NamedTuple):
    """What the autograd graph of a loss shows."""

    name: str
    settings: Facts
    prediction: Tensor | None = None
    target: Tensor | None = None
    compared: list[list[int]] | None = None
    """Shapes of output and target, before one was broadcast to the other."""


def read_loss(loss: Tensor) -> LossNode | None:
    """The loss function near the root of the graph of `loss`, or none."""
    waiting = [loss.grad_fn]
    # The list grows while it is read.
    for node in itertools.islice(waiting, _DEPTH):
        known = (_loss_of_torch(node) or _loss_by_hand(node)) if node is not None else None
        if known is not None:
            return known
        waiting += [child for child, _ in node.next_functions] if node is not None else []
    return None


def _loss_of_torch(node: Any) -> LossNode | None:
    name = _NODES.get(_node_name(node))
    if name is None:
        return None
    if name == "nll" and any(child.startswith("LogSoftmax") for child in _children(node)):
        name = "cross_entropy"
    reduction = _REDUCTIONS.get(getattr(node, "_saved_reduction", -1))
    settings: Facts = {"reduction": reduction} if reduction else {}
    ignored = getattr(node, "_saved_ignore_index", None)
    if ignored is not None:
        settings["ignore_index"] = ignored - 2**64 if ignored >= 2**63 else ignored
    pair = prediction, target = (
        _saved(node, "_saved_self"),
        _saved(node, "_saved_target"),
    )
    compared = (
        None if prediction is None or target is None else [_before_broadcast(t) for t in pair]
    )
    return LossNode(name, settings, prediction, target, compared)


def _before_broadcast(tensor: Tensor) -> list[int]:
    """The shape that a tensor had before it was expanded: an expanded axis has no stride."""
    shape = [1 if not stride else size for size, stride in zip(tensor.shape, tensor.stride())]
    while shape and shape[0] == 1 and tensor.shape[tensor.dim() - len(shape)] > 1:
        shape.pop(0)
    return shape


def _loss_by_hand(node: Any) -> LossNode | None:
    kind = _node_name(node)
    child = node.next_functions[0][0] if node.next_functions else None
    if kind not in ("MeanBackward", "SumBackward") or child is None:
        return None
    name = _BY_HAND.get(_node_name(child))
    children = _children(child)
    # A difference times a constant, which the graph does not hold, is not a squared difference.
    if name is None or "SubBackward" not in children or len(children) < len(child.next_functions):
        return None
    settings = {
        "reduction": kind[: -len("Backward")].lower(),
        "by_hand": True,
    }
    return LossNode(name, settings, compared=_stretched(child))


def _stretched(bent: Any) -> list[list[int]] | None:
    """`output - target` of shape (rows, rows), from an output of shape (rows, 1)."""
    difference = next(
        child for child, _ in bent.next_functions if _node_name(child) == "SubBackward"
    )
    output = next(
        (child for child, _ in difference.next_functions if child is not None),
        None,
    )
    made, given = (list(getattr(node, "_input_metadata", ())) for node in (difference, output))
    if len(made) != 1 or len(given) != 1:
        return None
    rows = list(given[0].shape)
    shape = list(made[0].shape)
    if len(shape) == 2 and rows == [shape[0], 1] and shape[1] > 1:
        return [rows, shape[1:]]
    return None


def bend_of(prediction: Tensor) -> str:
    """What activates the very tensor that a loss is given: `softmax`, `none` where nothing does, empty
    where the autograd graph does not tell (a compiled model, a function of the program's own).
    """
    node: Any = prediction.grad_fn
    for _ in range(_DEPTH):
        if node is None or not node.name()[-1:].isdigit():
            return ""
        name = _node_name(node)
        if name == "LogBackward" and "SoftmaxBackward" in _children(node):
            return "log_softmax"
        if name not in _SHAPE_ONLY:
            return _BENDS.get(name, "none")
        node = node.next_functions[0][0]
    return ""


def _children(node: Any) -> list[str]:
    return [_node_name(child) for child, _ in node.next_functions if child is not None]


def _node_name(node: Any) -> str:
    name: str = node.name()
    return name.rstrip("0123456789")


def _saved(node: Any, name: str) -> Any:
    try:
        return getattr(node, name, None)
    except RuntimeError:
        # Freed by an earlier backward pass through the same graph.
        return None


@dataclass(eq=False)
class Entry:
    """One layer or functional call, in the order of the first pass."""

    name: str
    module: Module | None
    function: str | None
    place: Place | None
    inputs: list[list[int] | None]
    output: list[int] | None
    settings: Facts
    calls: int = 1
    takes: str | None = None
    """The entry whose output it was given; empty where that was no single one's, none where
    no one saw.
    """

    def own_parameters(self) -> list[tuple[str, Tensor]]:
        """A closed library module (attention) owns what its children hold: they are never
        called.
        """
        module = self.module
        if (
            module is not None
            and module._modules
            and type(module).__module__.startswith("torch.nn")
        ):
            return list(module.named_parameters())
        if module is not None:
            return list(module._parameters.items())
        return []

    def facts(self, weights: list[Facts]) -> Facts:
        activation = self.function if self.function in ACTIVATIONS else None
        return {
            "name": self.name,
            "type": self.function or type(self.module).__name__,
            "place": self.place,
            "input_shapes": self.inputs,
            "output_shape": self.output,
            "activation": activation_of(self.module) if self.module is not None else activation,
            "settings": dict(self.settings, functional=True) if self.function else self.settings,
            "weights": weights,
            "calls": self.calls,
            "takes": self.takes,
        }


def layer_facts(
    torch: Library,
    entries: list[Entry],
    known_as: Callable[[Tensor], Any],
    first: dict[str, Facts],
) -> list[Facts]:
    """The captured layers in order, each with the statistics of its own weights; `first` keeps
    those, by the name that the weight is known as, as they were when it was met.
    """
    weights: dict[int, list[Facts]] = {}
    named = []
    for entry in entries:
        for name, tensor in entry.own_parameters():
            known = first.get(getattr(known_as(tensor), "name", "")) if tensor is not None else None
            if known is not None and known["shape"] == list(tensor.shape):
                weights.setdefault(id(entry), []).append(known)
            elif tensor is not None and plain(torch, tensor) and tensor.numel():
                named.append((entry, name, tensor))
    if named:
        taken = [
            take(
                tensor.detach().cpu(),
                _EXACT,
                copy=False,
            )
            for _, _, tensor in named
        ]
        arrays = [
            sample if isinstance(sample, numpy.ndarray) else sample.numpy() for sample in taken
        ]
        table = samples.reduce(arrays)
        for (entry, name, tensor), row in zip(named, table):
            path = getattr(known_as(tensor), "name", "")
            seen = row[
                [
                    samples.MEAN,
                    samples.STD,
                    samples.MIN,
                    samples.MAX,
                ]
            ]
            facts = weight_facts(
                name,
                path,
                tensor.shape,
                tensor.requires_grad,
                seen,
            )
            weights.setdefault(id(entry), []).append(facts)
            if path:
                first.setdefault(path, facts)
    return [entry.facts(weights.get(id(entry), [])) for entry in entries]


def weight_facts(
    name: str,
    path: str,
    shape: Any,
    trainable: Any,
    statistics: Iterable[Any],
) -> Facts:
    """Facts of a weight; its statistics are mean, standard deviation, minimum and maximum."""
    measured = dict(zip(("mean", "std", "minimum", "maximum"), map(float, statistics)))
    return {
        "name": name,
        "path": path,
        "shape": list(shape),
        "trainable": bool(trainable),
        **measured,
    }


def optimizer_facts(optimizer: Optimizer, place: Place | None) -> Facts:
    """Class, learning rate and plain settings of the first parameter group."""
    group = optimizer.param_groups[0]
    settings = plain_values({key: value for key, value in group.items() if key != "params"})
    rates = {float(group["lr"]) for group in optimizer.param_groups if "lr" in group}
    if len(rates) > 1:
        settings["learning_rates"] = sorted(rates)
    return {
        "name": type(optimizer).__name__,
        "learning_rate": float(group["lr"]) if "lr" in group else None,
        "settings": settings,
        "place": place,
        "parameters_given": sum(len(group["params"]) for group in optimizer.param_groups),
    }


def graph(
    sizes: list[tuple[int, bool]],
    batch_size: int,
    **parts: Any,
) -> Facts:
    """The model graph as JSON: `framework`, `model`, `layers`, `loss` and `optimizer`; `sizes` are
    those of its weights, and whether each is trained.
    """
    return {
        **parts,
        "parameters": sum(size for size, _ in sizes),
        "trainable_parameters": sum(size for size, trainable in sizes if trainable),
        "unregistered": [],
        "batch_size": batch_size or None,
    }
