"""Cross-entropies that a program writes itself: along which axis the softmax goes whose logarithm is taken,
along which its targets add up to one, and whether the loss falls as the right class gets likelier.
"""

from __future__ import annotations

from typing import Any

from reenact_probe.books.addends import Addend, Addends
from reenact_probe.books.distributions import first_rows, sums_along
from reenact_probe.torch.nodes import THROUGH, name_of
from reenact_probe.types import Facts, Library, Tensor

DEEPEST = 8
MOST_PARTS = 64
_KEEPS = (*THROUGH, "ClampBackward", "ClampMinBackward", "AddBackward")


def likelihood_of(torch: Library, found: Addends) -> Facts | None:
    """The first part of a loss that is a logarithm of a softmax; none where there is none."""
    softmaxes = [_softmax(part.node) for part in found.parts[:MOST_PARTS]]
    known = [(part, node) for part, node in zip(found.parts, softmaxes) if node is not None]
    if not known:
        return None
    part, node = known[0]
    result: Tensor = node._saved_result
    signs = {_sign(one) for one, _ in known}
    targets = [one for one, _ in part.weights if one.shape == result.shape and one.dim() > 1]
    return {
        "axis": _axis(int(node._saved_dim), result.dim()),
        "rank": result.dim(),
        "target_sums": _sums(torch, targets[0]) if len(targets) == 1 else [],
        "sign": signs.pop() if len(signs) == 1 else 0.0,
        "alone": len(known) == len(found.parts),
        "node": part.weights[0][1] if part.weights else part.node,
    }


def _axis(axis: int, rank: int) -> int:
    # Saved as unsigned numbers.
    return (axis - (1 << 64) if axis >= 1 << 63 else axis) % max(1, rank)


def _sign(part: Addend) -> float:
    """1 where the loss grows with the logarithm, -1 where it falls."""
    sign = part.sign * part.weighs
    return (sign > 0) - (sign < 0)


def _softmax(node: Any) -> Any:
    """The softmax whose logarithm a node is; none where it is not one."""
    name = name_of(node)
    if name.startswith("LogSoftmaxBackward"):
        return node
    if not name.startswith("LogBackward"):
        return None
    for _ in range(DEEPEST):
        inner = [one for one, _ in node.next_functions if one is not None]
        if len(inner) != 1:
            return None
        node = inner[0]
        if name_of(node).startswith("SoftmaxBackward"):
            return node
        if not name_of(node).startswith(_KEEPS):
            return None
    return None


def _sums(torch: Library, targets: Tensor) -> list[list[float]]:
    """Along each axis, those of targets that may be distributions."""
    with torch.no_grad():
        numbers = first_rows(targets.detach()).double()
        if not numbers.numel() or float(numbers.min()) < 0:
            return []
        return [sums_along(numbers, axis) for axis in range(numbers.dim())]
