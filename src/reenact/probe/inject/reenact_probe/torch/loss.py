"""What a loss is: its name and settings, and from the autograd graph its function and the labels it compares
with.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from reenact_probe.torch import modules
from reenact_probe.torch.modules import snake
from reenact_probe.types import Facts, Kwargs, Module, Place, Tensor

LOSS_NAMES = {
    "BCELoss": "binary_cross_entropy",
    "BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
    "CrossEntropyLoss": "cross_entropy",
    "NLLLoss": "nll",
    "MSELoss": "mse",
    "L1Loss": "l1",
    "SmoothL1Loss": "smooth_l1",
    "HuberLoss": "huber",
    "KLDivLoss": "kl_div",
    "CTCLoss": "ctc",
}
FROM_LOGITS = {
    "cross_entropy": True,
    "binary_cross_entropy_with_logits": True,
    "multilabel_soft_margin": True,
    "soft_margin": True,
    "binary_cross_entropy": False,
    "nll": False,
}


def loss_name(written: str) -> str:
    """One name for a loss, whether it is a class or a function."""
    if written in LOSS_NAMES:
        return LOSS_NAMES[written]
    return written[: -len("_loss")] if written.endswith("_loss") else snake(written)


def loss_facts(name: str, settings: Facts, place: Place | None) -> Facts:
    return {
        "name": name,
        "from_logits": FROM_LOGITS.get(name),
        "settings": settings,
        "place": place,
    }


def module_loss(module: Module, place: Place | None) -> Facts:
    """Facts of a loss that is a module."""
    written = type(module).__name__
    settings = modules.settings_of(module)
    if getattr(module, "weight", None) is not None:
        settings["weight"] = "given"
    return loss_facts(loss_name(written), settings, place)


def function_loss(name: str, kwargs: Kwargs, place: Place | None) -> Facts:
    settings = {key: value for key, value in kwargs.items() if modules.is_plain(value)}
    return loss_facts(name, settings, place)


_NODES = {
    "NllLossBackward": "nll",
    "NllLoss2DBackward": "nll",
    "NllLossNdBackward": "nll",
    "BinaryCrossEntropyBackward": "binary_cross_entropy",
    "BinaryCrossEntropyWithLogitsBackward": "binary_cross_entropy_with_logits",
    "MseLossBackward": "mse",
    "SmoothL1LossBackward": "smooth_l1",
    "HuberLossBackward": "huber",
    "SoftMarginLossBackward": "soft_margin",
    "MultiMarginLossBackward": "multi_margin",
    "MultilabelMarginLossForwardBackward": "multilabel_margin",
    "CtcLossBackward": "ctc",
}
_REDUCTIONS = {0: "none", 1: "mean", 2: "sum"}
_DEPTH = 12


class Read(NamedTuple):
    """What the graph of a loss shows."""

    name: str
    settings: Facts
    prediction: Tensor | None = None
    target: Tensor | None = None


def read(loss: Any) -> Read | None:
    """The loss function near the root of the graph of `loss`, or none."""
    waiting, seen = [loss.grad_fn], 0
    while waiting and seen < _DEPTH:
        node = waiting.pop(0)
        seen += 1
        if node is None:
            continue
        found = _known(node) or _by_hand(node)
        if found is not None:
            return found
        waiting += [child for child, _ in node.next_functions]
    return None


def _known(node: Any) -> Read | None:
    name = _NODES.get(_plain_name(node))
    if name is None:
        return None
    children = [_plain_name(child) for child, _ in node.next_functions if child is not None]
    if name == "nll" and any(child.startswith("LogSoftmax") for child in children):
        name = "cross_entropy"
    reduction = _REDUCTIONS.get(getattr(node, "_saved_reduction", -1))
    settings = {"reduction": reduction} if reduction else {}
    return Read(name, settings, _saved(node, "_saved_self"), _saved(node, "_saved_target"))


def _by_hand(node: Any) -> Read | None:
    """`((p - y) ** 2).mean()` and `(p - y).abs().mean()`."""
    kind = _plain_name(node)
    if kind not in ("MeanBackward", "SumBackward"):
        return None
    child = node.next_functions[0][0] if node.next_functions else None
    settings = {"reduction": kind[: -len("Backward")].lower(), "by_hand": True}
    if child is not None and _plain_name(child) == "PowBackward" and _follows(child, "SubBackward"):
        return Read("mse", settings)
    if child is not None and _plain_name(child) == "MulBackward" and _follows(child, "SubBackward"):
        return Read("mse", settings)
    if child is not None and _plain_name(child) == "AbsBackward" and _follows(child, "SubBackward"):
        return Read("l1", settings)
    return None


def _follows(node: Any, name: str) -> bool:
    return any(child is not None and _plain_name(child) == name for child, _ in node.next_functions)


def _plain_name(node: Any) -> str:
    return node.name().rstrip("0123456789")


def _saved(node: Any, name: str) -> Any:
    try:
        return getattr(node, name, None)
    except RuntimeError:
        # Freed by an earlier backward pass through the same graph.
        return None
