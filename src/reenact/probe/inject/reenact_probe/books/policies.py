"""Policy gradients: logarithms of probabilities with the weights they have in a loss, and the errors of a
critic by which these weights can be seen from their negatives.

What a critic is trained towards is what came of an action. A weight that grows with that, less what the
critic had expected, says how much better an action was; its negative, how much worse.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from reenact_probe.books.addends import Addend, Addends
from reenact_probe.torch.nodes import THROUGH, constant_of, is_constant, name_of, signs_of
from reenact_probe.types import Library, Tensor

FEWEST = 16
"""Actions."""
MOST = 4096
MINORITY = 0.05
"""Share of the weights that have the rarer sign: else they may be weights of rows."""
DEEPEST = 40
_KEEPS = (
    *THROUGH,
    "ExpandBackward",
    "IndexBackward",
    "SelectBackward",
    "StackBackward",
    "CatBackward",
)
_GROWS = ("ExpBackward", "ClampBackward", "ClampMinBackward", "ClampMaxBackward")
_SQUARED = ("MseLossBackward", "SmoothL1LossBackward", "HuberLossBackward")
_FALLS = ("NllLossBackward", "NllLoss2DBackward", "BinaryCrossEntropyWithLogitsBackward")
"""Negative logarithms of probabilities."""


@dataclass(eq=False)
class Weighed:
    """Logarithms of probabilities of a loss, each with its weight."""

    weights: Tensor
    sense: float
    """Positive where the loss grows with a logarithm whose weight is positive."""
    chosen: str
    """`min` or `max` where the smaller or larger of two such products counts."""
    node: Any
    """What multiplies them, or chooses among the products."""


def weighed(torch: Library, found: Addends) -> Iterator[Weighed]:
    """Logarithms of probabilities that have weights of both signs."""
    single: list[tuple[Addend, float]] = []
    counted: set[int] = set()
    for part in found.parts:
        sense = _sense(part.node, 0)
        if not sense or part.summed:
            continue
        mixed = [held for held in part.weights if _is_mixed(torch, held[0])]
        if len(mixed) == 1:
            weights, node = mixed[0]
            sign = sense * part.sign * part.weighs_without(weights)
            if sign and weights.data_ptr() not in counted:
                counted.add(weights.data_ptr())
                yield Weighed(_sample(weights), sign, part.chosen, part.chosen_at or node)
        elif part.numbers and part.weighs and part.numbers[-1]:
            rest = sense * part.sign * part.weighs / part.numbers[-1]
            single.append((part, rest))
    signs = {rest > 0 for _, rest in single}
    if len(single) >= FEWEST and len(signs) == 1:
        weights = torch.tensor([part.numbers[-1] for part, _ in single])
        if _is_mixed(torch, weights):
            part, rest = single[0]
            yield Weighed(_sample(weights), rest, part.chosen, part.numbered_at)


def errors(torch: Library, found: Addends) -> Iterator[Tensor]:
    """What a squared error is trained towards, less what is trained."""
    single: list[float] = []
    for part in found.parts:
        # The square in the density of an action has the weights of the actions.
        error = _error(part.node) if part.sign * part.weighs > 0 else None
        if error is not None and error.numel() == 1 and name_of(part.node).startswith(_SQUARED):
            single.append(float(error))
        elif error is not None and error.numel() >= FEWEST:
            yield _sample(error)
    if len(single) >= FEWEST:
        yield _sample(torch.tensor(single))


def likeness(torch: Library, first: Tensor, second: Tensor) -> float | None:
    """The correlation of two samples; none where they are not of the same rows."""
    if first.numel() != second.numel():
        return None
    both = torch.stack([first.double().cpu(), second.double().cpu()])
    number = float(torch.corrcoef(both)[0, 1])
    return number if number == number else None


def _error(node: Any) -> Tensor | None:
    name = name_of(node)
    if name.startswith(_SQUARED):
        trained, target = (edge[0] is not None for edge in node.next_functions[:2])
        if trained and not target:
            known: Tensor = node._saved_target.detach() - node._saved_self.detach()
            return known
    elif name.startswith("PowBackward") and getattr(node, "_saved_exponent", 0) == 2:
        inner = node.next_functions[0][0]
        inner_name = name_of(inner)
        if inner_name.startswith("SubBackward") and len(inner.next_functions) == 2:
            trained, target = (edge[0] is not None for edge in inner.next_functions)
            if trained != target:
                saved: Tensor = node._saved_self.detach()
                return -saved if trained else saved
    return None


def sense_of(node: Any) -> float:
    """1 where a node is a logarithm of a probability, or grows with one; -1 where it falls with one."""
    return _sense(node, 0)


def _sense(node: Any, depth: int) -> float:
    """1 where a node is a logarithm of a probability, or grows with one; -1 where it falls with one."""
    if node is None or depth > DEEPEST:
        return 0.0
    name = name_of(node)
    edges = [edge[0] for edge in node.next_functions]
    if name.startswith("LogSoftmaxBackward"):
        return 1.0
    if name.startswith("GatherBackward"):
        return float(_is_log_softmax(edges[0]))
    if name.startswith(_FALLS):
        return -1.0 if getattr(node, "_saved_reduction", 1) == 0 else 0.0
    if name.startswith("PowBackward"):
        return -1.0 if _error(node) is not None else 0.0
    if name.startswith("NegBackward"):
        return -_sense(edges[0], depth + 1)
    if name.startswith((*_KEEPS, *_GROWS, "DivBackward")):
        return _sense(next((one for one in edges if one is not None), None), depth + 1)
    if name.startswith(("AddBackward", "SubBackward", "RsubBackward")) and len(edges) == 2:
        return _sense_of_sum(edges, signs_of(node, name), depth)
    if is_constant(node, name):
        inner = next(one for one in edges if one is not None)
        sign = 1.0 if constant_of(node, name) > 0 else -1.0
        return sign * _sense(inner, depth + 1)
    return 0.0


def _sense_of_sum(edges: list[Any], signs: tuple[float, float], depth: int) -> float:
    """That of the first of two terms that has one."""
    for edge, sign in zip(edges, signs):
        sense = sign * _sense(edge, depth + 1)
        if sense:
            return sense
    return 0.0


def _is_log_softmax(node: Any) -> bool:
    """Also one that is computed as scores less the logarithm of the sum of their exponentials."""
    while node is not None and name_of(node).startswith(_KEEPS):
        node = node.next_functions[0][0]
    if node is None:
        return False
    if name_of(node).startswith("SubBackward") and len(node.next_functions) == 2:
        second = node.next_functions[1][0]
        return second is not None and name_of(second).startswith("LogsumexpBackward")
    return name_of(node).startswith("LogSoftmaxBackward")


def _is_mixed(torch: Library, weights: Tensor) -> bool:
    if weights.numel() < FEWEST or not weights.is_floating_point():
        return False
    above = float((weights > 0).float().mean())
    below = float((weights < 0).float().mean())
    return min(above, below) >= MINORITY and bool(torch.isfinite(weights).all())


def _sample(numbers: Tensor) -> Tensor:
    flat = numbers.detach().reshape(-1)
    return flat[:: -(-flat.numel() // MOST)].clone()
