"""What is seen of a run, and what is changed in it: the output of models, parameters, calls of
`update`.
"""

from __future__ import annotations

import copy
import functools
import random
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reenact.paper.measure.inside.predictions import Predictions
else:
    from predictions import Predictions


class Observer:
    """What the hooks share, and what they saw."""

    def __init__(self, mode: str) -> None:
        self.takes_out = mode == "no-updates"
        self.permutes = mode == "permuted-labels"
        self.predictions = Predictions()
        self.optimizers: set[str] = set()
        self.steps = 0
        self.by_hand = 0
        """Times that parameters with gradients were changed by no optimizer."""
        self.updates = 0
        """Calls of the project's own `update`."""
        self.permuted = 0
        self.not_permuted = ""
        """Why rows could not be permuted, the last time."""
        self.firsts: dict[int, tuple[Any, Any]] = {}
        """Parameters of optimizers by id, with their values before the first step."""
        self.by_id: dict[int, tuple[Any, Any]] = {}
        """Parameters that no optimizer has, with their values when a model was first used."""
        self.depth = 0
        self.busy = False

    def report(self) -> dict[str, Any]:
        """Everything seen, as JSON."""
        self.busy = True
        self.predictions.ended()
        moved = any(not is_same(value, first) for value, first in self.firsts.values())
        return {
            "torch": "torch" in sys.modules,
            "optimizers": sorted(self.optimizers)[:20],
            "steps": self.steps,
            "by_hand": self.by_hand,
            "updates": self.updates,
            "moved": moved or self.by_hand > 0 or self.updates > 0,
            "permuted": self.permuted,
            "not_permuted": self.not_permuted,
            "predicted": self.predictions.roots,
            "left_out": self.predictions.left_out,
            "passes": list(self.predictions.passes),
        }


def is_same(value: Any, first: Any) -> bool:
    return bool((value.detach() == first).all())


def check_by_hand(observer: Observer, parameter: Any) -> None:
    """A parameter with a gradient that changed without an optimizer was trained by a loop of
    its own.
    """
    key = id(parameter)
    if not parameter.requires_grad or key in observer.firsts:
        return
    if key not in observer.by_id or observer.by_id[key][0] is not parameter:
        observer.by_id[key] = (parameter, parameter.detach().clone())
    elif parameter.grad is not None and not is_same(
        parameter,
        observer.by_id[key][1],
    ):
        observer.by_hand += 1
        observer.predictions.updated()
        if observer.takes_out:
            parameter.data.copy_(observer.by_id[key][1])
        else:
            observer.by_id[key] = (parameter, parameter.detach().clone())


def model_gave(
    observer: Observer,
    module: Any,
    inputs: list[Any],
    output: Any,
) -> Any:
    """The output of an outermost module: noted, and permuted where that is asked for; none
    where it stays.
    """
    import torch

    tensors = [one for one in _leaves(output) if isinstance(one, torch.Tensor)]
    if not tensors or next(iter(module.parameters()), None) is None:
        return None
    first = next(
        (one for one in tensors if one.ndim and one.numel() > 1),
        None,
    )
    training = bool(
        torch.is_grad_enabled() and module.training and any(one.requires_grad for one in tensors)
    )
    if first is None:
        observer.not_permuted = "the model gives its loss, not its predictions" if training else ""
        return None
    observer.busy = True
    try:
        if training and observer.permutes:
            output = _permuted(observer, output, tensors, len(first))
            leaves = (one for one in _leaves(output) if isinstance(one, torch.Tensor))
            first = next(one for one in leaves if one.ndim and one.numel() > 1)
        observer.predictions.root(first, module, inputs, for_training=training)
    finally:
        observer.busy = False
    return output if training and observer.permutes else None


def _leaves(output: Any) -> list[Any]:
    if isinstance(output, dict):
        return list(output.values())
    if isinstance(output, (list, tuple)):
        return list(output)
    return [output]


def _permuted(
    observer: Observer,
    output: Any,
    tensors: list[Any],
    rows: int,
) -> Any:
    """All parts of an output with their rows in another order, the same for all."""
    import torch

    if rows < 2 or any(one.ndim == 0 or len(one) != rows for one in tensors):
        observer.not_permuted = (
            "a batch has one row, or the model gives more than rows of predictions"
        )
        return output
    observer.permuted += 1
    chance = torch.Generator().manual_seed(observer.permuted)
    order = torch.randperm(rows, generator=chance).to(tensors[0].device)
    if isinstance(output, torch.Tensor):
        return output[order]
    if isinstance(output, dict):
        changed = copy.copy(output)
        for name, part in output.items():
            changed[name] = part[order] if isinstance(part, torch.Tensor) else part
        return changed
    parts = [part[order] if isinstance(part, torch.Tensor) else part for part in output]
    if hasattr(output, "_fields"):
        return type(output)(*parts)
    return type(output)(parts)


def observe_update(observer: Observer, module: Any) -> None:
    """The contract's `update(model, batch)` of methods without gradients."""
    update = getattr(module, "update", None)
    if not callable(update):
        return

    @functools.wraps(update)
    def updated(model: Any, *args: Any, **kwargs: Any) -> Any:
        observer.updates += 1
        if observer.permutes:
            args = tuple(_shuffled(observer, one) for one in args)
        if not observer.takes_out:
            return update(model, *args, **kwargs)
        # It runs on a copy, for its random numbers and its return value.
        result = update(
            copy.deepcopy(model),
            *args,
            **kwargs,
        )
        if isinstance(result, tuple):
            return tuple(model if type(one) is type(model) else one for one in result)
        if type(result) is type(model):
            return model
        return result

    module.update = updated


def _shuffled(observer: Observer, batch: Any) -> Any:
    """The parts of a batch but the first, each with its rows in another order."""
    if isinstance(batch, dict):
        parts = batch
    elif isinstance(batch, tuple):
        parts = dict(enumerate(batch))
    else:
        parts = {}
    sized = [
        name
        for name, part in parts.items()
        if hasattr(part, "__len__") and hasattr(part, "__getitem__")
    ]
    if len(sized) < 2 or len({len(parts[name]) for name in sized}) > 1 or len(parts[sized[0]]) < 2:
        observer.not_permuted = (
            "the batch given to `update` is not a dictionary or tuple of equally long parts"
        )
        return batch
    observer.permuted += 1
    order = list(range(len(parts[sized[0]])))
    random.Random(observer.permuted).shuffle(order)  # noqa: S311 - an order, no secret
    changed = dict(parts)
    for name in sized[1:]:
        part = parts[name]
        listed = isinstance(part, (list, tuple))
        changed[name] = type(part)(part[at] for at in order) if listed else part[order]
    if isinstance(batch, dict):
        return changed
    values = list(changed.values())
    if hasattr(batch, "_fields"):
        return type(batch)(*values)
    return tuple(values)


def tensors_in(values: Any) -> Iterator[Any]:
    """Tensors of an argument list, one level of lists and tuples deep."""
    import torch

    if isinstance(values, torch.Tensor):
        yield values
    elif isinstance(values, (list, tuple)):
        for one in values:
            if isinstance(one, torch.Tensor):
                yield one
            elif isinstance(one, (list, tuple)):
                yield from (inner for inner in one if isinstance(inner, torch.Tensor))
