"""What is taken during one sampled step: small copies, all reduced together at its end, and their
rows.

On a GPU the copies stay there until the end of the step, when one transfer brings them over: one
synchronisation a sampled step, none on the others.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import Any

import numpy

from reenact_probe.guard import guarded
from reenact_probe.schedule import FULL, NORMS, Schedule
from reenact_probe.torch import samples as stat
from reenact_probe.torch.model import RELU_LIKE, LayerInfo
from reenact_probe.torch.samples import plain, take
from reenact_probe.types import Array, Library, Row, Tensor

NAN = float("nan")
_SATURATED = {
    "sigmoid": (
        0.5,
        5 / (1 / (1 + math.exp(-5)) - 0.5),
    ),
    "tanh": (0, 5 / math.tanh(5)),
}
"""By activation: its middle, and the scale on which it is at 5 where its input is."""

Slots = dict[int, tuple[int, int]]
"""Where exact norms lie, by key: (slot of the vector, position in it)."""


class Window:
    """One sampled step, of a torch or a Keras-on-torch program. A bare one takes nothing."""

    def __init__(self, torch: Library, schedule: Schedule) -> None:
        self.torch = torch
        self.bare = schedule.bare
        self.cap = schedule.cap
        self.detail = schedule.detail
        self.closed = False
        self.samples: list[Any] = []
        self.raw: list[Any] = []
        """Small tensors whose values are wanted as they are; arrays once they are fetched."""
        self.outputs: dict[tuple[int, int], tuple[float, dict[str, int]]] = {}
        """By layer index and phase: (training, slots of its samples)."""
        self.gradients: dict[int, int] = {}
        self.parameters: list[tuple[int, Tensor]] = []
        self.before: list[Any] | None = None
        self.listeners: list[Any] = []
        self._table: Array = None

    def _sample(self, tensor: Tensor, copy: bool = True) -> int:
        self.samples.append(take(tensor, self.cap, copy))
        return len(self.samples) - 1

    def add_raw(self, values: Any) -> int:
        """Remember a small tensor whose values are wanted as they are; gives its slot."""
        values = values.detach().reshape(-1)
        # numpy holds no bfloat16, and half a number cannot hold a sum.
        whole = values.is_floating_point() and values.element_size() >= 4
        self.raw.append(values if whole else values.float())
        return len(self.raw) - 1

    def output(
        self,
        layer: LayerInfo,
        tensor: Tensor,
        phase: int,
        training: float,
    ) -> None:
        """The output of a layer in its first call of this step."""
        key = (layer.index, phase)
        if (
            self.bare
            or key in self.outputs
            or self.detail == NORMS
            or not _usable(self.torch, tensor)
        ):
            return
        slots = {"all": self._sample(tensor)}
        if layer.activation in _SATURATED:
            # A copy that is beyond 5 exactly where the input of the activation was.
            middle, scale = _SATURATED[layer.activation]
            slots["saturation"] = len(self.samples)
            self.samples.append((self.samples[slots["all"]] - middle) * scale)
        cuts = not RELU_LIKE.isdisjoint((layer.activation, layer.follower))
        if cuts and tensor.dim() > 1 and tensor.is_floating_point():
            axis = layer.unit_axis
            if axis is None:
                axis = 1 if tensor.dim() > 3 else -1
            others = [dim for dim in range(tensor.dim()) if dim != axis % tensor.dim()]
            slots["units"] = self._sample(
                tensor.detach().amax(dim=others).clamp_(min=0), copy=False
            )
        if layer.is_last and tensor.dim() == 2 and tensor.is_floating_point():
            slots["row"] = self.add_raw(tensor.detach().sum(dim=1).mean())
        self.outputs[key] = (training, slots)
        if phase == 0 and self.detail == FULL and tensor.requires_grad:
            # A hook leaves with the graph it hangs on; it holds the window, never a tensor.
            listener = functools.partial(self._output_gradient, layer.index)
            self.listeners.append(tensor.register_hook(listener))

    @guarded("output-gradient")
    def _output_gradient(self, index: int, gradient: Tensor) -> None:
        """The gradient that reaches a layer's output: a sample is taken, nothing is changed."""
        if not self.closed and index not in self.gradients and _usable(self.torch, gradient):
            self.gradients[index] = self._sample(gradient)

    def before_step(self, parameters: list[tuple[int, Tensor]]) -> None:
        """Weights before the update: `parameters` are (index, tensor)."""
        if not self.bare:
            self.parameters = parameters
            self.before = [take(tensor, self.cap) for _, tensor in parameters]

    def take_gradients(self) -> None:
        """Gradients as the optimizer sees them."""
        there = [
            (i, tensor.grad)
            for i, (_, tensor) in enumerate(self.parameters)
            if tensor.grad is not None
        ]
        dense = [(i, grad) for i, grad in there if plain(self.torch, grad) and grad.numel()]
        self.grad_present = {i for i, _ in there}
        self.grad_slots = {}
        if self.detail != NORMS:
            # Optimizers leave gradients as they are, so they can still be read after the step.
            self.grad_slots = {i: self._sample(grad, copy=False) for i, grad in dense}
        self.grad_norms = self._norms(
            [i for i, _ in dense],
            [grad for _, grad in dense],
        )

    def after_step(self) -> None:
        """Weights after the update, and how far they moved."""
        tensors = [tensor.detach() for _, tensor in self.parameters]
        self.weight_norms = self._norms(
            range(len(tensors)),
            tensors,
        )
        self.weight_slots = []
        self.update_slots = []
        for tensor, before in zip(tensors, self.before or ()):
            self.weight_slots.append(self._sample(tensor, copy=False))
            self.samples.append(self.samples[-1] - before)
            self.update_slots.append(len(self.samples) - 1)

    def _norms(self, keys: Any, tensors: list[Tensor]) -> Slots:
        floating = [
            (key, tensor) for key, tensor in zip(keys, tensors) if tensor.is_floating_point()
        ]
        if not floating:
            return {}
        norms = self.torch._foreach_norm([tensor for _, tensor in floating])
        slot = self.add_raw(self.torch.stack([norm.float() for norm in norms]))
        return {key: (slot, i) for i, (key, _) in enumerate(floating)}

    def fetch(self) -> None:
        """Bring everything over, reduce it, and forget the tensors: from now on rows can be
        read.
        """
        for listener in self.listeners:
            listener.remove()
        self.closed, self.listeners = True, []
        parts = self._on_host([*self.samples, *self.raw])
        # An empty segment would shift its neighbours in the reduction: one zero stands for it.
        samples = [part if len(part) else numpy.zeros(1) for part in parts[: len(self.samples)]]
        if samples:
            self._table = stat.reduce(samples)
        self.raw = parts[len(self.samples) :]
        self.samples, self.before = [], None

    def _on_host(self, parts: list[Any]) -> list[Array]:
        """All parts as numpy arrays; those on a device come over in one piece."""
        there = [
            i
            for i, part in enumerate(parts)
            if not isinstance(part, numpy.ndarray) and not part.is_cpu
        ]
        if there:
            device = parts[there[0]].device
            whole = self.torch.cat([parts[i].to(device) for i in there]).cpu().numpy()
            ends = numpy.cumsum([parts[i].numel() for i in there])
            for i, piece in zip(
                there,
                numpy.split(
                    whole,
                    ends[:-1],
                ),
            ):
                parts[i] = piece
        return [part if isinstance(part, numpy.ndarray) else part.numpy() for part in parts]

    def layer_rows(self, step: int) -> Iterator[Row]:
        """One row for each layer seen, in the columns of `folder.LAYER`."""
        table = self._table
        for (index, phase), (training, slots) in self.outputs.items():
            values = table[slots["all"]]
            saturated = table[slots["saturation"], stat.BEYOND_5] if "saturation" in slots else NAN
            dead = table[slots["units"], stat.TINY] if "units" in slots else NAN
            row_sum = float(self.raw[slots["row"]][0]) if "row" in slots else NAN
            back = self.gradients.get(index) if phase == 0 else None
            gradient = (NAN,) * 4
            if back is not None:
                gradient = table[back][
                    [
                        stat.MEAN,
                        stat.MEAN_ABS,
                        stat.ZERO,
                        stat.BAD,
                    ]
                ]
            yield (
                step,
                index,
                phase,
                training,
                *values[
                    [
                        stat.MEAN,
                        stat.STD,
                        stat.MIN,
                        stat.MAX,
                        stat.MEAN_ABS,
                        stat.ZERO,
                    ]
                ],
                *values[[stat.NONPOSITIVE, stat.BEYOND_5]],
                saturated,
                dead,
                values[stat.BAD],
                row_sum,
                *gradient,
            )

    def parameter_rows(self, step: int) -> Iterator[Row]:
        """One row for each parameter tensor, in the columns of `folder.PARAMETER`."""
        for i, (index, tensor) in enumerate(self.parameters):
            weight = self._table[self.weight_slots[i]]
            update = self._table[self.update_slots[i]]
            # Norm of the whole update, estimated from the sample, and its ratio to the weights of
            # the sample.
            scale = math.sqrt(max(1.0, tensor.numel() / self.cap))
            moved = math.sqrt(update[stat.SUM_SQUARES])
            held = math.sqrt(weight[stat.SUM_SQUARES])
            yield (
                step,
                index,
                *self._gradient(i, tensor.numel()),
                weight[stat.MEAN],
                weight[stat.STD],
                weight[stat.MEAN_ABS],
                self._norm(self.weight_norms, i),
                max(abs(weight[stat.MIN]), abs(weight[stat.MAX])),
                *weight[[stat.TINY, stat.NEGATIVE, stat.BAD]],
                update[stat.MEAN_ABS],
                moved * scale,
                moved / held if held > 0 else NAN,
            )

    def _gradient(self, i: int, count: int) -> tuple[float, ...]:
        present = float(i in self.grad_present)
        norm = self._norm(self.grad_norms, i)
        slot = self.grad_slots.get(i)
        if slot is None:
            return (present, NAN, NAN, NAN, norm, NAN, NAN, NAN)
        seen = self._table[slot]
        bad = seen[stat.BAD]
        if i in self.grad_norms and not math.isfinite(norm):
            # The norm is exact: it reports a bad value that the sample missed.
            bad = max(bad, 1 / count)
        largest = max(abs(seen[stat.MIN]), abs(seen[stat.MAX]))
        mean, std, mean_abs, zero = seen[
            [
                stat.MEAN,
                stat.STD,
                stat.MEAN_ABS,
                stat.ZERO,
            ]
        ]
        return (present, mean, std, mean_abs, norm, largest, zero, bad)

    def _norm(self, slots: Slots, key: int) -> float:
        if key not in slots:
            return NAN
        return float(self.raw[slots[key][0]][slots[key][1]])

    def total_norms(self) -> tuple[float, ...]:
        """Norm of all gradients, and of all weights."""
        both = (self.grad_norms, self.weight_norms)
        return tuple(norm_of([self._norm(slots, key) for key in slots]) for slots in both)


def norm_of(values: list[float]) -> float:
    if not values:
        return NAN
    return math.sqrt(sum(value * value for value in values))


def _usable(torch: Library, tensor: Tensor) -> bool:
    return tensor is not None and plain(torch, tensor) and tensor.numel() > 0 and tensor.dim() > 0
