"""Which terms make up a loss: found in its graph, from the root down through additions, constant factors
and reductions; and the gradient that each brings to the weights that several of them reach.

Parts of one form, with one factor, that come from the same weights are one term of several rows: the losses
of micro-batches whose gradients are collected, those of the steps of a series.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from reenact_probe.experiment.trials import Problem
from reenact_probe.torch.nodes import (
    THROUGH,
    constant_of,
    is_constant,
    name_of,
    reduction_of,
    signs_of,
)
from reenact_probe.types import Facts, Library, Tensor

MOST = 12
"""Terms of a loss, parts of one form taken together."""
MOST_PARTS = 256
MOST_NODES = 20_000
"""Nodes of which the form of a part is read."""
DEEPEST = 200
"""Nodes between the root and a reduction."""


class Term:
    """A part of a loss that is added to others."""

    def __init__(self, node: Any, factor: float) -> None:
        self.node = node
        self.factor = factor
        """The constant that it is multiplied by."""
        self.reductions: list[tuple[str, int]] = []
        """From the outside in: its kind, and over how many numbers."""

    @property
    def elements(self) -> int:
        return math.prod(count for _, count in self.reductions)

    @property
    def weight(self) -> float:
        """The factor of a single element: its own, and what means divide by."""
        means = math.prod(count for kind, count in self.reductions if kind == "mean")
        return abs(self.factor) / max(1, means)

    @property
    def reduction(self) -> str:
        return " of ".join(dict.fromkeys(kind for kind, _ in self.reductions))


def terms_of_loss(problem: Problem, when: str) -> Facts | None:
    """The terms of the loss of the first batch; none where it has only one."""
    torch = problem.torch
    torch.manual_seed(0)
    with torch.enable_grad():
        loss, values = problem.again()
        if not loss.requires_grad:
            return None
        parts = list(terms(loss.grad_fn))
        if not 2 <= len(parts) <= MOST_PARTS:
            return None
        found = list(_by_form(parts))
        if not 2 <= len(found) <= MOST:
            return None
        gradients = [_gradients(torch, problem.weights, loss, parts, one) for one in found]
    shared = [
        i for i in range(len(problem.weights)) if sum(norms[i] > 0 for norms in gradients) > 1
    ]
    return {
        "when": when,
        "place": problem.tape.added_at,
        "shared": len(shared),
        "weights": len(problem.weights),
        "terms": [_term_facts(one, norms, shared, values) for one, norms in zip(found, gradients)],
    }


def _by_form(parts: list[Term]) -> Iterator[list[Term]]:
    """The parts of a loss, those together that are one term of several rows."""
    by_form: dict[Any, list[Term]] = {}
    for one in parts:
        kinds = tuple(kind for kind, _ in one.reductions)
        by_form.setdefault((kinds, f"{one.factor:.6g}", _form(one.node)), []).append(one)
    yield from by_form.values()


def _form(root: Any) -> tuple[Any, ...]:
    """The operations behind a node and how they follow each other, down to the weights themselves."""
    numbers: dict[int, int] = {}
    held: list[Any] = []
    form: list[Any] = []
    todo: list[Any] = [root]
    while todo and len(held) < MOST_NODES:
        node = todo.pop()
        if id(node) in numbers:
            form.append(numbers[id(node)])
            continue
        numbers[id(node)] = len(held)
        # Held, so that no identity is used twice.
        held.append(node)
        variable = getattr(node, "variable", None)
        form.append(name_of(node) if variable is None else id(variable))
        todo += [one for one, _ in node.next_functions if one is not None]
    return tuple(form)


def _term_facts(
    alike: list[Term],
    norms: list[float],
    shared: list[int],
    values: Callable[[Any], float | None],
) -> Facts:
    one = max(alike, key=lambda term: term.elements)
    each = [values(term.node) for term in alike]
    known = [value for value in each if value is not None]
    return {
        "value": _plain(sum(known) / len(known)) if len(known) == len(each) else None,
        "alike": len(alike),
        "factor": _plain(one.factor),
        "reduction": one.reduction,
        "elements": one.elements,
        "weight": _plain(one.weight),
        "reaches": sum(norm > 0 for norm in norms),
        "gradient": _plain(_total(norms)),
        "on_shared": _plain(_total([norms[i] for i in shared])),
    }


def _gradients(
    torch: Library,
    weights: list[Tensor],
    loss: Tensor,
    parts: list[Term],
    wanted: list[Term],
) -> list[float]:
    """Norms of the gradient of one term alone: those of the others are set to zero on their way."""
    hooks = [one.node.register_prehook(_nothing) for one in parts if one not in wanted]
    try:
        gradients = torch.autograd.grad(loss, weights, retain_graph=True, allow_unused=True)
    finally:
        for hook in hooks:
            hook.remove()
    return [0.0 if grad is None else float(grad.detach().float().norm()) for grad in gradients]


def _nothing(gradients: Any) -> Any:
    return tuple(None if grad is None else grad * 0 for grad in gradients)


def terms(root: Any) -> Iterator[Term]:
    """The addends of a loss; a node that is reached twice is one term."""
    merged: dict[int, Term] = {}
    for one in _addends(root, 1.0, 0):
        known = merged.setdefault(id(one.node), one)
        if known is not one:
            known.factor += one.factor
    for one in merged.values():
        if not hasattr(one.node, "variable"):
            yield one


def _addends(node: Any, factor: float, depth: int) -> Iterator[Term]:
    name = name_of(node)
    before = [one for one, _ in node.next_functions]
    inner = [one for one in before if one is not None]
    if depth > DEEPEST or not inner:
        yield Term(node, factor)
    elif name.startswith(("AddBackward", "SubBackward", "RsubBackward")) and len(before) == 2:
        for one, sign in zip(before, signs_of(node, name)):
            if one is not None:
                yield from _addends(one, factor * sign, depth + 1)
    elif is_constant(node, name):
        yield from _addends(inner[0], factor * constant_of(node, name), depth + 1)
    elif name.startswith(("SumBackward", "MeanBackward")) and name_of(inner[0]).startswith("Stack"):
        share = 1.0 / reduction_of(node)[1] if name.startswith("Mean") else 1.0
        for one, _ in inner[0].next_functions:
            if one is not None:
                yield from _addends(one, factor * share, depth + 1)
    else:
        yield from _reduced_addends(node, factor, depth)


def _reduced_addends(node: Any, factor: float, depth: int) -> Iterator[Term]:
    """A reduction of the sum of several things that are reduced themselves is several terms."""
    kind, count = reduction_of(node)
    below = _below(node) if kind else None
    parts = list(_addends(below, 1.0, depth + 1)) if below is not None else []
    if len(parts) > 1 and all(one.reductions for one in parts):
        for one in parts:
            one.factor *= factor
            one.reductions.insert(0, (kind, count))
            yield one
        return
    term = Term(node, factor)
    term.reductions = list(_reductions(node))
    yield term


def _reductions(node: Any) -> Iterator[tuple[str, int]]:
    """Reductions that follow each other, through constants."""
    for _ in range(DEEPEST):
        kind, count = reduction_of(node)
        if kind:
            yield kind, count
        below = _below(node)
        plain = kind or is_constant(node, name_of(node)) or name_of(node).startswith(THROUGH)
        if below is None or not plain:
            return
        node = below


def _below(node: Any) -> Any:
    inner = [one for one, _ in node.next_functions if one is not None]
    return inner[0] if len(inner) == 1 else None


def _total(norms: list[float]) -> float:
    return math.sqrt(sum(norm * norm for norm in norms))


def _plain(value: float | None) -> float | None:
    if value is not None and math.isfinite(value):
        return value
    return None
