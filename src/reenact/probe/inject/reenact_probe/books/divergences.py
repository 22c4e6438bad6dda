"""Divergences between distributions: what `kl_div` is given, and the sign of those written by hand.

`kl_div` takes logarithms of probabilities. A divergence of a Gaussian from a standard one is known by its
form alone: the exponential of something, less that thing itself; or a square, less the logarithm of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reenact_probe.books.addends import Addends
from reenact_probe.books.distributions import LARGEST, first_rows, range_of, sums_along
from reenact_probe.torch.nodes import constant_of, is_constant, name_of
from reenact_probe.torch.samples import plain
from reenact_probe.types import Args, Facts, Kwargs, Library, Tensor


def given_to_divergence(torch: Library, args: Args, kwargs: Kwargs) -> Facts | None:
    """What one call of `kl_div` is given; none where it trains nothing or cannot be read."""
    named = {**dict(zip(("input", "target"), args)), **kwargs}
    both: list[Any] = [named.get("input"), named.get("target")]
    if not all(isinstance(one, torch.Tensor) and plain(torch, one) for one in both):
        return None
    if both[0].shape != both[1].shape or not any(one.requires_grad for one in both):
        return None
    with torch.no_grad():
        given = first_rows(both[0].detach()).double()
        target = first_rows(both[1].detach()).double()
        if not given.numel() or bool(torch.isnan(given).any() | torch.isnan(target).any()):
            return None
        log_target = bool(named.get("log_target"))
        axes = range(given.dim())
        given_exp = given.clamp(max=LARGEST).exp()
        target_exp = target.clamp(max=LARGEST).exp()
        return {
            "value": _divergence(torch, given, target, log_target),
            "log_target": log_target,
            "learns": "target" if not both[0].requires_grad else "input",
            "given": range_of(given),
            "target": range_of(target),
            "given_sums": [sums_along(given, axis) for axis in axes],
            "given_exp_sums": [sums_along(given_exp, axis) for axis in axes],
            "target_sums": [sums_along(target, axis) for axis in axes],
            "target_exp_sums": [sums_along(target_exp, axis) for axis in axes],
        }


def _divergence(
    torch: Library,
    given: Tensor,
    target: Tensor,
    log_target: bool,
) -> float | None:
    """The mean over the rows; none where that is not a number."""
    if log_target:
        likely = target.exp()
        parts = likely * target - likely * given
    else:
        parts = torch.xlogy(target, target) - target * given
    rows = len(parts) if parts.dim() else 1
    total = float(parts.sum()) / max(1, rows)
    return total if abs(total) < float("inf") else None


def turned_divergences(found: Addends) -> Iterator[Any]:
    """Nodes of a loss that are subtracted though what they belong to has its minimum where they count
    positive: lowered, they have no bound.
    """
    curved: dict[tuple[Any, int, str], list[Any]] = {}
    for part in found.parts:
        name = name_of(part.node)
        if name.startswith(("ExpBackward", "LogBackward")) and part.weighs > 0:
            kind = "exp" if name.startswith("Exp") else "log"
            inner = _without_constants(part.node.next_functions[0])
            if inner is not None:
                held = curved.setdefault((*inner, kind), [0.0, part.node])
                held[0] += part.sign
    for (node, number, kind), (sign, part) in curved.items():
        inner = (id(node), number)
        if kind == "exp" and sign < 0 < found.met.get(inner, 0.0):
            yield part
        if kind == "log" and sign > 0 > _squares(found, node, inner):
            yield part


def _squares(found: Addends, node: Any, inner: tuple[int, int]) -> float:
    """The sign of the square of something, or of what is a square itself."""
    if _is_square(node):
        return found.met.get(inner, 0.0)
    total: float = 0
    for part in found.parts:
        if _is_square(part.node) and _key(part.node.next_functions[0]) == inner:
            total += part.sign
    return total


def _is_square(node: Any) -> bool:
    exponent = getattr(node, "_saved_exponent", 0)
    return name_of(node).startswith("PowBackward") and exponent == 2


def _without_constants(edge: Any) -> tuple[Any, int] | None:
    """What a node is computed from, but for positive factors."""
    node, number = edge
    while node is not None and is_constant(node, name := name_of(node)):
        if constant_of(node, name) <= 0:
            return None
        node, number = next(one for one in node.next_functions if one[0] is not None)
    return None if node is None else (node, number)


def _key(edge: Any) -> tuple[int, int]:
    return id(edge[0]), edge[1]
