"""What is taken during one sampled step: small copies, all reduced together at its end, and their rows.

On a GPU the copies stay there until the end of the step, when one transfer brings them over: one
synchronisation a sampled step, none on the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy

from reenact_probe.guard import guarded
from reenact_probe.schedule import FULL, NORMS, Schedule
from reenact_probe.torch import samples as stat
from reenact_probe.torch.layers import LayerInfo
from reenact_probe.torch.samples import plain, take
from reenact_probe.types import Array, Library, Row, Tensor

NAN = float("nan")
_SIGMOID_5 = 1 / (1 + math.exp(-5)) - 0.5
_TANH_5 = math.tanh(5)


class LookCost:
    """Seconds spent looking during the step under way."""

    def __init__(self) -> None:
        self._seconds = 0.0

    def add(self, seconds: float) -> None:
        self._seconds += seconds

    def take(self) -> float:
        """The seconds so far; from now on another step is counted."""
        seconds, self._seconds = self._seconds, 0.0
        return seconds


class Window:
    """One sampled step of a torch or Keras-on-torch program."""

    def __init__(self, torch: Library, schedule: Schedule) -> None:
        self.torch = torch
        self.cap = schedule.cap
        self.detail = schedule.detail
        self.closed = False
        self.samples: list[Any] = []
        self.raw: list[Tensor] = []
        self.outputs: dict[tuple[int, int], tuple[LayerInfo, float, dict[str, int]]] = {}
        """By layer index and phase: (layer, training, slots of its samples)."""
        self.gradients: dict[int, int] = {}
        self.parameters: list[tuple[int, Tensor]] = []
        self.before: list[Any] | None = None
        self.listeners: list[Any] = []

    def _sample(self, tensor: Tensor, copy: bool = True) -> int:
        self.samples.append(take(tensor, self.cap, copy))
        return len(self.samples) - 1

    def add_raw(self, values: Any) -> int:
        """Remember a small tensor whose values are wanted as they are; gives its slot."""
        values = values.detach().reshape(-1)
        self.raw.append(values if values.is_floating_point() else values.float())
        return len(self.raw) - 1

    # Layers -----------------------------------------------------------------------------------------------

    def output(self, layer: LayerInfo, tensor: Tensor, phase: int, training: float) -> None:
        """The output of a layer in its first call of this step."""
        key = (layer.index, phase)
        if key in self.outputs or self.detail == NORMS or not _usable(self.torch, tensor):
            return
        slots = {"all": self._sample(tensor)}
        if layer.activation in ("sigmoid", "tanh"):
            slots["saturation"] = self._saturation(layer.activation, self.samples[slots["all"]])
        if layer.relu_like and tensor.dim() > 1 and tensor.is_floating_point():
            slots["units"] = self._unit_maxima(tensor.detach(), layer.unit_axis)
        if layer.is_last and tensor.dim() == 2 and tensor.is_floating_point():
            slots["row"] = self.add_raw(tensor.detach().sum(dim=1).mean())
        self.outputs[key] = (layer, training, slots)
        if phase == 0 and self.detail == FULL and tensor.requires_grad:
            # A hook leaves with the graph it hangs on; it holds the window, never a tensor.
            self.listeners.append(tensor.register_hook(_GradientListener(self, layer.index)))

    def _saturation(self, activation: str | None, sample: Any) -> int:
        """A copy that is beyond 5 exactly where the input of the activation was."""
        scaled = (sample - 0.5) * (5 / _SIGMOID_5) if activation == "sigmoid" else sample * (5 / _TANH_5)
        self.samples.append(scaled)
        return len(self.samples) - 1

    def _unit_maxima(self, value: Any, axis: int | None) -> int:
        axis = axis % value.dim() if axis is not None else (1 if value.dim() > 3 else value.dim() - 1)
        others = [dim for dim in range(value.dim()) if dim != axis]
        return self._sample(value.amax(dim=others).clamp_(min=0), copy=False)

    def output_gradient(self, index: int, gradient: Tensor) -> None:
        if not self.closed and index not in self.gradients and _usable(self.torch, gradient):
            self.gradients[index] = self._sample(gradient)

    # Parameters -------------------------------------------------------------------------------------------

    def before_step(self, parameters: list[tuple[int, Tensor]]) -> None:
        """Weights before the update: `parameters` are (index, tensor)."""
        self.parameters = parameters
        self.before = [take(tensor, self.cap) for _, tensor in parameters]

    def take_gradients(self) -> None:
        """Gradients as the optimizer sees them."""
        found = [(i, tensor.grad) for i, (_, tensor) in enumerate(self.parameters) if tensor.grad is not None]
        dense = [(i, grad) for i, grad in found if plain(self.torch, grad) and grad.numel()]
        self.grad_present = {i for i, _ in found}
        self.grad_slots = {}
        if self.detail != NORMS:
            # Optimizers leave gradients as they are, so they can still be read after the step.
            self.grad_slots = {i: self._sample(grad, copy=False) for i, grad in dense}
        self.grad_norms = self._norms([i for i, _ in dense], [grad for _, grad in dense])

    def after_step(self) -> None:
        """Weights after the update, and how far they moved."""
        tensors = [tensor.detach() for _, tensor in self.parameters]
        self.weight_norms = self._norms(range(len(tensors)), tensors)
        self.weight_slots, self.update_slots = [], []
        for tensor, before in zip(tensors, self.before or ()):
            self.weight_slots.append(self._sample(tensor, copy=False))
            self.samples.append(self.samples[-1] - before)
            self.update_slots.append(len(self.samples) - 1)

    def _norms(self, keys: Any, tensors: list[Tensor]) -> dict[int, tuple[int, int]]:
        """Where the exact norms lie, by key: (slot of the vector, position in it)."""
        floating = [(key, tensor) for key, tensor in zip(keys, tensors) if tensor.is_floating_point()]
        if not floating:
            return {}
        norms = self.torch._foreach_norm([tensor for _, tensor in floating])
        slot = self.add_raw(self.torch.stack([norm.float() for norm in norms]))
        return {key: (slot, i) for i, (key, _) in enumerate(floating)}

    # The end ----------------------------------------------------------------------------------------------

    def fetch(self) -> tuple[Any, list[Array]]:
        """Bring everything over, reduce it, and forget the tensors. Gives (statistics, raw values by
        slot).
        """
        for listener in self.listeners:
            listener.remove()
        self.closed, self.listeners = True, []
        parts = self._on_host([*self.samples, *self.raw])
        samples, raw = parts[: len(self.samples)], parts[len(self.samples) :]
        # An empty segment would shift its neighbours in the reduction: one zero stands for it.
        samples = [part if len(part) else numpy.zeros(1) for part in samples]
        table = stat.reduce(numpy.concatenate(samples), [len(part) for part in samples]) if samples else None
        self.samples, self.raw, self.before = [], [], None
        return table, raw

    def _on_host(self, parts: list[Any]) -> list[Array]:
        """All parts as numpy arrays; those on a device come over in one piece."""
        there = [i for i, part in enumerate(parts) if not isinstance(part, numpy.ndarray) and not part.is_cpu]
        if there:
            device = parts[there[0]].device
            whole = self.torch.cat([parts[i].to(device) for i in there]).cpu().numpy()
            ends = numpy.cumsum([parts[i].numel() for i in there])
            for i, piece in zip(there, numpy.split(whole, ends[:-1])):
                parts[i] = piece
        return [part if isinstance(part, numpy.ndarray) else part.numpy() for part in parts]


class Sketch:
    """Stands for a window where only the model and its data are noted: no number is taken, no row written."""

    before = None

    def output(self, layer: LayerInfo, tensor: Tensor, phase: int, training: float) -> None:
        """Nothing."""

    def before_step(self, parameters: list[tuple[int, Tensor]]) -> None:
        """Nothing."""

    def take_gradients(self) -> None:
        """Nothing."""


class _GradientListener:
    """Takes a sample of the gradient that reaches one layer's output, and changes nothing."""

    def __init__(self, window: Window, index: int) -> None:
        self.window = window
        self.index = index

    @guarded("output-gradient")
    def __call__(self, gradient: Tensor) -> None:
        if gradient is not None:
            self.window.output_gradient(self.index, gradient)


def _usable(torch: Library, tensor: Tensor) -> bool:
    return tensor is not None and plain(torch, tensor) and tensor.numel() > 0 and tensor.dim() > 0


def layer_rows(window: Window, table: Array, raw: list[Array], step: int) -> Iterator[Row]:
    """One row for each layer seen, in the columns of `tables.LAYER`."""
    for (index, phase), (_, training, slots) in window.outputs.items():
        values = table[slots["all"]]
        saturated = table[slots["saturation"], stat.BEYOND_5] if "saturation" in slots else NAN
        dead = table[slots["units"], stat.TINY] if "units" in slots else NAN
        row_sum = float(raw[slots["row"]][0]) if "row" in slots else NAN
        back = window.gradients.get(index) if phase == 0 else None
        gradient = (
            (NAN,) * 4 if back is None else table[back][[stat.MEAN, stat.MEAN_ABS, stat.ZERO, stat.BAD]]
        )
        yield (
            step, index, phase, training,
            *values[[stat.MEAN, stat.STD, stat.MIN, stat.MAX, stat.MEAN_ABS, stat.ZERO]],
            *values[[stat.NONPOSITIVE, stat.BEYOND_5]], saturated, dead, values[stat.BAD], row_sum, *gradient,
        )  # fmt: skip


def parameter_rows(window: Window, table: Array, raw: list[Array], step: int) -> Iterator[Row]:
    """One row for each parameter tensor, in the columns of `tables.PARAMETER`."""
    for i, (index, tensor) in enumerate(window.parameters):
        weight = table[window.weight_slots[i]]
        update = table[window.update_slots[i]]
        yield (
            step, index, *_gradient(window, table, raw, i, tensor.numel()),
            weight[stat.MEAN], weight[stat.STD], weight[stat.MEAN_ABS], _raw(raw, window.weight_norms, i),
            max(abs(weight[stat.MIN]), abs(weight[stat.MAX])),
            *weight[[stat.TINY, stat.NEGATIVE, stat.BAD]],
            update[stat.MEAN_ABS], *_update(update, weight, tensor.numel(), window.cap),
        )  # fmt: skip


def _gradient(window: Window, table: Array, raw: list[Array], i: int, count: int) -> tuple[float, ...]:
    present = float(i in window.grad_present)
    norm = _raw(raw, window.grad_norms, i)
    slot = window.grad_slots.get(i)
    if slot is None:
        return (present, NAN, NAN, NAN, norm, NAN, NAN, NAN)
    seen = table[slot]
    largest = max(abs(seen[stat.MIN]), abs(seen[stat.MAX]))
    # The norm is exact: it tells of a bad value that the sample missed.
    bad = (
        seen[stat.BAD]
        if i not in window.grad_norms or math.isfinite(norm)
        else max(seen[stat.BAD], 1 / count)
    )
    return (
        present,
        seen[stat.MEAN],
        seen[stat.STD],
        seen[stat.MEAN_ABS],
        norm,
        largest,
        seen[stat.ZERO],
        bad,
    )


def _update(update: Array, weight: Array, count: int, cap: int) -> tuple[float, float]:
    """Norm of the whole update, estimated from the sample, and its ratio to the weights of the sample."""
    scale = math.sqrt(max(1.0, count / cap))
    moved, held = math.sqrt(update[stat.SUM_SQUARES]), math.sqrt(weight[stat.SUM_SQUARES])
    return moved * scale, (moved / held if held > 0 else NAN)


def total(raw: list[Array], slots: dict[int, tuple[int, int]]) -> float:
    """Norm over all tensors of their norms."""
    if not slots:
        return NAN
    norms = [float(raw[slot][at]) for slot, at in slots.values()]
    return math.sqrt(sum(norm * norm for norm in norms))


def total_update(rows: list[Row]) -> float:
    moved = [row[-2] for row in rows]
    return math.sqrt(sum(value * value for value in moved)) if moved else NAN


def _raw(raw: list[Array], slots: dict[int, tuple[int, int]], key: Any) -> float:
    if key not in slots:
        return NAN
    slot, at = slots[key]
    return float(raw[slot][at])
