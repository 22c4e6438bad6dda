"""The model graph as JSON, from a captured pass, the optimizer and the loss."""

from __future__ import annotations

from collections.abc import Callable

import numpy

from reenact_probe.torch import modules, samples
from reenact_probe.torch.capture import ACTIVATIONS, Entry
from reenact_probe.torch.samples import plain, take
from reenact_probe.types import Facts, Library, Module, Optimizer, Place, Tensor

_EXACT = 1 << 20
"""Weights up to this size are measured whole."""


def layer_facts(torch: Library, entries: list[Entry], parameter_name: Callable[[Tensor], str]) -> list[Facts]:
    """The captured layers in order, each with the statistics of its own weights."""
    weights = weight_facts(torch, entries, parameter_name)
    return [
        {
            "name": entry.name,
            "type": entry.function or type(entry.module).__name__,
            "place": entry.place,
            "input_shapes": entry.inputs,
            "output_shape": entry.output,
            "activation": _activation(entry),
            "settings": dict(entry.settings, functional=True) if entry.function else entry.settings,
            "weights": weights.get(id(entry), []),
            "calls": entry.calls,
        }
        for entry in entries
    ]


def _activation(entry: Entry) -> str | None:
    if entry.module is not None:
        return modules.activation_of(entry.module)
    return entry.function if entry.function in ACTIVATIONS else None


def weight_facts(
    torch: Library, entries: list[Entry], parameter_name: Callable[[Tensor], str]
) -> dict[int, list[Facts]]:
    """Statistics of the parameters that each layer holds itself, by identity of the entry."""
    named = [
        (entry, name, tensor)
        for entry in entries
        if entry.module is not None
        for name, tensor in _own_parameters(entry)
        if tensor is not None and plain(torch, tensor) and tensor.numel()
    ]
    if not named:
        return {}
    taken = [take(tensor.detach().cpu(), _EXACT, copy=False) for _, _, tensor in named]
    arrays = [sample if isinstance(sample, numpy.ndarray) else sample.numpy() for sample in taken]
    table = samples.reduce(numpy.concatenate(arrays), [len(array) for array in arrays])
    found: dict[int, list[Facts]] = {}
    for (entry, name, tensor), row in zip(named, table):
        found.setdefault(id(entry), []).append(
            {
                "name": name,
                "path": parameter_name(tensor),
                "shape": list(tensor.shape),
                "trainable": bool(tensor.requires_grad),
                "mean": float(row[samples.MEAN]),
                "std": float(row[samples.STD]),
                "minimum": float(row[samples.MIN]),
                "maximum": float(row[samples.MAX]),
            }
        )
    return found


def _own_parameters(entry: Entry) -> list[tuple[str, Tensor]]:
    """A closed library module (attention) owns what its children hold: they are never called."""
    module: Module = entry.module
    if module._modules and type(module).__module__.startswith("torch.nn"):
        return list(module.named_parameters())
    return list(module._parameters.items())


def optimizer_facts(optimizer: Optimizer, place: Place | None) -> Facts:
    """Class, learning rate and plain settings of the first parameter group."""
    group = optimizer.param_groups[0]
    settings = {key: value for key, value in group.items() if key != "params" and modules.is_plain(value)}
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
