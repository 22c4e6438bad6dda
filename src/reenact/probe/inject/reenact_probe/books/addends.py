"""What a loss is a sum of, number by number: found in its graph, from the root down through additions,
constant factors, reductions and everything that only moves numbers about.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from reenact_probe.torch.nodes import THROUGH, constant_of, is_constant, name_of, signs_of
from reenact_probe.types import Tensor

MOST = 4000
"""Nodes that are walked over."""
_ADDS = ("AddBackward", "SubBackward", "RsubBackward")
_MOVES = (
    *THROUGH,
    "SumBackward",
    "MeanBackward",
    "NansumBackward",
    "StackBackward",
    "CatBackward",
    "ExpandBackward",
    "SelectBackward",
    "SliceBackward",
    "IndexBackward",
    "SplitBackward",
    "SplitWithSizesBackward",
    "UnbindBackward",
    "PermuteBackward",
    "TransposeBackward",
    "TBackward",
    "MaskedSelectBackward",
)
_REDUCES = ("SumBackward", "MeanBackward")
_SMALLER, _LARGER = "MinimumBackward", "MaximumBackward"


@dataclass(eq=False)
class Addend:
    """A part of a loss that is not a sum itself."""

    node: Any
    sign: float
    """The product of the constants on its way, means left out."""
    weights: tuple[tuple[Tensor, Any], ...] = ()
    """Tensors of constants that its numbers are multiplied by, each with the node that does."""
    weighs: float = 1.0
    """The sign of all of these; 0 where they have both."""
    numbers: tuple[float, ...] = ()
    """Single constants, in the order in which they are met."""
    summed: bool = False
    """Several of its numbers have one weight."""
    numbered_at: Any = None
    """The node that multiplies it by the last of these."""
    chosen: str = ""
    """`min` or `max` where the smaller or larger of two such parts counts."""
    chosen_at: Any = None
    """The node that chooses."""

    def weighs_without(self, left_out: Tensor) -> float:
        """The sign of its weights but one."""
        sign = 1.0
        for one, _ in self.weights:
            sign *= 1.0 if one is left_out else sign_of(one)
        return sign


@dataclass
class Addends:
    """All of one loss."""

    parts: list[Addend] = field(default_factory=list)
    met: dict[tuple[int, int], float] = field(default_factory=dict)
    """Signs by node and number of its output, of parts and of what they are moved from."""
    held: list[Any] = field(default_factory=list)
    """Nodes, so that no identity is used twice."""


def addends(root: Any) -> Addends:
    """The parts of what goes backward."""
    found = Addends()
    todo = [((root, 0), Addend(root, 1.0))]
    while todo and len(found.held) < MOST:
        (node, number), way = todo.pop()
        if node is None:
            continue
        found.held.append(node)
        key = (id(node), number)
        found.met[key] = found.met.get(key, 0.0) + way.sign * way.weighs
        below = _below(node, way)
        if below:
            todo += reversed(below)
        else:
            way.node = node
            found.parts.append(way)
    return found


def _below(node: Any, way: Addend) -> list[tuple[Any, Addend]]:
    """What is added up in a node, each with its way; empty where the node is a part."""
    name = name_of(node)
    edges = [edge for edge in node.next_functions if edge[0] is not None]
    if not edges:
        return []
    if name.startswith(_ADDS) and len(node.next_functions) == 2:
        signs = signs_of(node, name)
        pairs = zip(node.next_functions, signs)
        return [(edge, _copy(way, sign=way.sign * sign)) for edge, sign in pairs if edge[0]]
    if name.startswith((_SMALLER, _LARGER)):
        chosen = "min" if name.startswith(_SMALLER) else "max"
        return [(edge, _copy(way, chosen=chosen, chosen_at=node)) for edge in edges]
    if name.startswith(_MOVES):
        summed = way.summed or (name.startswith(_REDUCES) and bool(way.weights))
        return [(edge, _copy(way, summed=summed)) for edge in edges]
    if name.startswith("NegBackward"):
        return [(edges[0], _copy(way, sign=-way.sign))]
    if is_constant(node, name):
        constant = constant_of(node, name)
        numbers = (*way.numbers, constant)
        return [(edges[0], _copy(way, sign=way.sign * constant, numbers=numbers, numbered_at=node))]
    weights = weights_in(node, name)
    if weights is not None:
        weighs = way.weighs * sign_of(weights)
        held = (*way.weights, (weights, node))
        return [(edges[0], _copy(way, weights=held, weighs=weighs))]
    return []


def weights_in(node: Any, name: str) -> Tensor | None:
    """The tensor of constants that a node multiplies by, or divides by; none where it does not."""
    if not name.startswith(("MulBackward", "DivBackward")):
        return None
    first, second = (edge[0] for edge in node.next_functions)
    if (first is None) == (second is None) or (first is None and name.startswith("Div")):
        return None
    saved: Tensor | None = getattr(node, "_saved_other" if first is not None else "_saved_self")
    return saved


def _copy(way: Addend, **changed: Any) -> Addend:
    return Addend(**{**vars(way), **changed})


def sign_of(weights: Tensor) -> float:
    """1 or -1 where all numbers have that sign or are 0; else 0."""
    if not weights.numel() or weights.is_complex():
        return 0.0
    if float(weights.min()) >= 0:
        return 1.0
    return -1.0 if float(weights.max()) <= 0 else 0.0
