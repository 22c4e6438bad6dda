"""What losses of classes are given: scores, logarithms of probabilities, or what is neither."""

from __future__ import annotations

from typing import Any

from reenact_probe.books.distributions import LARGEST, first_rows, range_of, sums_along
from reenact_probe.torch.capture import LossCall
from reenact_probe.torch.nodes import THROUGH, is_constant, name_of
from reenact_probe.torch.samples import plain
from reenact_probe.torch.trail import Trail
from reenact_probe.types import Facts, Library, Tensor

LOSSES = ("cross_entropy", "nll_loss", "binary_cross_entropy_with_logits")
FEWEST = 2
"""Rows."""
MASKED = -1e4
"""A score below this counts for nothing."""
MOST_WALKED = 24
"""Nodes above the scores."""
_ADDS = ("AddBackward", "SubBackward")
_MASKS = ("MaskedFillBackward", "WhereBackward")
_BENDS = {
    "SoftmaxBackward": "softmax",
    "LogSoftmaxBackward": "log_softmax",
    "SigmoidBackward": "sigmoid",
    "LogSigmoidBackward": "log_sigmoid",
}


def given_to_loss_of_classes(torch: Library, call: LossCall, trail: Trail) -> Facts | None:
    """What one call is given; none where it trains nothing or cannot be read."""
    given = call.args[0] if call.args else call.kwargs.get("input")
    if not isinstance(given, torch.Tensor) or not plain(torch, given):
        return None
    if not given.requires_grad or not given.is_floating_point() or given.dim() < 2:
        return None
    with torch.no_grad():
        scores = first_rows(given.detach()).double()
        if len(scores) < FEWEST or bool(torch.isnan(scores).any()):
            return None
        return {
            "loss": call.name,
            "classes": int(scores.shape[1]),
            "given": range_of(scores),
            "sums": sums_along(scores, 1),
            "exp_sums": sums_along(scores.clamp(max=LARGEST).exp(), 1),
            "bend": _bend(given.grad_fn),
            "soft": _soft(torch, given, call),
            "shifted": _shifted(given, scores, trail) if call.name == "cross_entropy" else None,
            "place": call.place,
        }


def _soft(torch: Library, given: Tensor, call: LossCall) -> Facts | None:
    """Of targets that are a distribution over the classes: their range, and what they add up to."""
    target = call.args[1] if len(call.args) > 1 else call.kwargs.get("target")
    if call.name != "cross_entropy" or not isinstance(target, torch.Tensor):
        return None
    if not plain(torch, target) or target.shape != given.shape or not target.is_floating_point():
        return None
    rows = first_rows(target.detach()).double()
    if bool(torch.isnan(rows).any()):
        return None
    several = rows.ne(0).sum(1) > 1
    return {
        "range": range_of(rows),
        "sums": sums_along(rows, 1),
        "several": float(several.double().mean()),
    }


def _shifted(given: Tensor, scores: Tensor, trail: Trail) -> Facts | None:
    """Where one number is added to all scores of a row, on the way to them; none where none is."""
    # What is put in place of single scores must keep them from counting.
    masked = float(scores.min()) < MASKED
    todo, walked = [given.grad_fn], 0
    while todo and walked < MOST_WALKED:
        node = todo.pop()
        walked += node is not None
        name = name_of(node) if node is not None else ""
        if node is not None and trail.shifts(node):
            return {"place": trail.place_of(node)}
        if name.startswith((*THROUGH, *_ADDS)) or (masked and name.startswith(_MASKS)):
            todo += [below for below, _ in node.next_functions]
        elif name and is_constant(node, name):
            todo += [below for below, _ in node.next_functions if below is not None]
    return None


def _bend(node: Any) -> str:
    """The function that made it, where that is one that losses apply themselves."""
    while node is not None and name_of(node).startswith(THROUGH):
        node = node.next_functions[0][0]
    name = name_of(node) if node is not None else ""
    for kind, word in _BENDS.items():
        if name.startswith(kind):
            return word
    return ""
