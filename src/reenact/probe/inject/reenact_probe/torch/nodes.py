"""Reads the nodes of a graph of gradients: which of them multiply by a constant, add, or reduce."""

from __future__ import annotations

import math
from typing import Any

THROUGH = (
    "ViewBackward",
    "UnsafeViewBackward",
    "ReshapeAliasBackward",
    "SqueezeBackward",
    "UnsqueezeBackward",
    "ToCopyBackward",
    "CloneBackward",
    "AliasBackward",
)
"""Nodes that leave numbers as they are."""
_MEAN, _SUM = 1, 2
"""What a fused loss calls its reductions."""


def name_of(node: Any) -> str:
    return str(node.name())


def reduction_of(node: Any) -> tuple[str, int]:
    """The kind of a reduction and over how many numbers it goes; empty where it is not one."""
    name = name_of(node)
    fused = getattr(node, "_saved_reduction", None)
    if isinstance(fused, int) and fused in (_MEAN, _SUM):
        held = getattr(node, "_saved_target", None)
        held = held if held is not None else getattr(node, "_saved_self", None)
        return ("mean" if fused == _MEAN else "sum"), (int(held.numel()) if held is not None else 1)
    if not name.startswith(("SumBackward", "MeanBackward")):
        return "", 1
    sizes = getattr(node, "_saved_self_sym_sizes", None) or ()
    count = math.prod(int(size) for size in sizes)
    dims = getattr(node, "_saved_dim", None)
    if dims:
        # Saved as unsigned numbers.
        count = math.prod(int(sizes[_dim(dim, len(sizes))]) for dim in dims)
    elif not sizes:
        count = int(getattr(node, "_saved_self_sym_numel", 1))
    return ("mean" if name.startswith("Mean") else "sum"), max(1, count)


def _dim(dim: int, size: int) -> int:
    return dim - (1 << 64) if dim > size else dim


def is_constant(node: Any, name: str) -> bool:
    """Whether a node multiplies, divides or turns round what came from one node alone."""
    if name.startswith((*THROUGH, "NegBackward")):
        return True
    if not name.startswith(("MulBackward", "DivBackward")):
        return False
    there = [one for one, _ in node.next_functions if one is not None]
    return len(there) == 1 and constant_of(node, name) == constant_of(node, name)


def constant_of(node: Any, name: str) -> float:
    if name.startswith("NegBackward"):
        return -1.0
    if not name.startswith(("MulBackward", "DivBackward")):
        return 1.0
    first = node.next_functions[0][0]
    other = getattr(node, "_saved_other" if first is not None else "_saved_self", None)
    if first is None and name.startswith("Div"):
        return math.nan
    try:
        number = 1.0 if other is None else float(other)
    except (TypeError, ValueError, RuntimeError):
        return math.nan
    if name.startswith("Div"):
        return 1 / number if number else math.nan
    return number


def signs_of(node: Any, name: str) -> tuple[float, float]:
    alpha = getattr(node, "_saved_alpha", 1)
    alpha = float(alpha) if isinstance(alpha, (int, float)) else 1.0
    if name.startswith("Sub"):
        return 1.0, -alpha
    if name.startswith("Rsub"):
        return (-alpha, 1.0)
    return (1.0, alpha)
