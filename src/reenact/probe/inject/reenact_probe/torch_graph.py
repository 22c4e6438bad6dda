"""The model graph as JSON, from a captured pass, the optimiser and the loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy

from reenact_probe import statistics as stat
from reenact_probe import torch_layers
from reenact_probe.samples import plain, take
from reenact_probe.types import Facts, Kwargs, Library, Module, Optimizer, Place, Tensor

if TYPE_CHECKING:
    from reenact_probe.torch_capture import Entry

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
        return torch_layers.activation_of(entry.module)
    from reenact_probe.torch_functions import ACTIVATIONS

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
    samples = [take(tensor.detach().cpu(), _EXACT, copy=False) for _, _, tensor in named]
    samples = [sample if isinstance(sample, numpy.ndarray) else sample.numpy() for sample in samples]
    table = stat.reduce(numpy.concatenate(samples), [len(sample) for sample in samples])
    found: dict[int, list[Facts]] = {}
    for (entry, name, tensor), row in zip(named, table):
        found.setdefault(id(entry), []).append(
            {
                "name": name,
                "path": parameter_name(tensor),
                "shape": list(tensor.shape),
                "trainable": bool(tensor.requires_grad),
                "mean": float(row[stat.MEAN]),
                "std": float(row[stat.STD]),
                "minimum": float(row[stat.MIN]),
                "maximum": float(row[stat.MAX]),
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
    settings = {
        key: value for key, value in group.items() if key != "params" and torch_layers.is_plain(value)
    }
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


def loss_facts(name: str, settings: Facts, place: Place | None) -> Facts:
    return {
        "name": name,
        "from_logits": torch_layers.FROM_LOGITS.get(name),
        "settings": settings,
        "place": place,
    }


def module_loss(module: Module, place: Place | None) -> Facts:
    """Facts of a loss that is a module."""
    written = type(module).__name__
    settings = torch_layers.settings_of(module)
    if getattr(module, "weight", None) is not None:
        settings["weight"] = "given"
    return loss_facts(torch_layers.loss_name(written), settings, place)


def function_loss(name: str, kwargs: Kwargs, place: Place | None) -> Facts:
    settings = {key: value for key, value in kwargs.items() if torch_layers.is_plain(value)}
    return loss_facts(name, settings, place)
