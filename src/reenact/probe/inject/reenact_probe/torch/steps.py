"""Sees the loss go backward and the optimizer step; says where one step ends and the next begins.

This is the path that every step takes, so a step no one looks at does here only what its row needs.
"""

from __future__ import annotations

import importlib
import os
import weakref
from collections.abc import Callable
from time import perf_counter
from typing import Any, Protocol

from reenact_probe.guard import after, before, guarded, patch, state, when_made
from reenact_probe.places import Made
from reenact_probe.torch.forward import ForwardHooks
from reenact_probe.torch.loaders import Loaders
from reenact_probe.torch.window import Window
from reenact_probe.types import Args, Function, Kwargs, Library, Optimizer, Row, Tensor

NAN = float("nan")
LOSS = 3
"""Column of the loss."""
_NO_TOTALS = (NAN,) * 6
MOST_SKIPPED = 200
"""Skipped steps that are noted."""
SHRUNK, FIRST = 0.5, 8
"""What is left, at most, of gradients that were made smaller by hand, and how many of them are
looked at.
"""
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class StepListener(Protocol):
    """Who is notified of steps, and knows what a row says besides the loss."""

    window: Window | None
    training: float
    cost: float

    @property
    def unsettled(self) -> bool: ...
    def epoch(self) -> int: ...
    def batch_size(self) -> int: ...
    def loss_goes_back(self, tensor: Any) -> None: ...
    def update_begins(
        self,
        parameters: list[Tensor] | None,
        late: bool = False,
        optimizer: Optimizer | None = None,
    ) -> None: ...
    def update_ends(self) -> tuple[float, ...] | None: ...
    def step_ended(self) -> None: ...
    def write_data(self) -> None: ...
    def cleared(self, optimizer: Optimizer | None) -> None: ...
    def gradients_came(self) -> None: ...


class Steps:
    """Counts steps and keeps what belongs to the one under way."""

    def __init__(
        self,
        forwards: ForwardHooks,
        loaders: Loaders,
        made: Made,
        listener: StepListener,
    ) -> None:
        self.torch = torch = forwards.torch
        self.recorder = forwards.recorder
        self.forwards = forwards
        self.loaders = loaders
        self.made = made
        self.listener = listener
        self.optimizers: dict[int, int] = {}
        """Index by identity; a program has few."""
        self._known: list[Any] = []
        """The same, held weakly."""
        self.zeroed: set[int] = set()
        """Identities of the optimizers whose gradients were cleared since their last step."""
        self.backwards = 0
        self.loss: Any = NAN
        self._clipped = (NAN, NAN)
        """Norm of the gradients before they were clipped, and the norm they were clipped to."""
        self._fresh = (0, NAN)
        """The optimizer that stepped last, and the norm of its first gradients as they came."""
        self._divisor = 1.0
        self._collected = 1.0
        """Backward passes that make a step, where the loss is divided by their number."""
        self.next_look: float = 0
        """The schedule is asked again at this step at the latest."""
        self._scaled: tuple[Tensor, Tensor] | None = None
        self._skipped = 0
        self._ended: float | None = None
        self._last: Any = None
        """The optimizer of torch that stepped last, held weakly."""
        self._manual_open = False
        self.others_step = False
        """There is an optimizer that is not torch's: Keras has its own."""
        self.add_row: Callable[[Row], None] = self.recorder.tables["steps"].add
        stop = self.recorder.config.stop_after
        self._stop_at = float("inf") if stop is None else stop
        optim = importlib.import_module("torch.optim.optimizer")
        patch(torch.autograd, "backward", self._wrap_backward)
        when_made(optim.Optimizer, self._made)
        before(optim.Optimizer, "zero_grad", self._cleared)
        before(
            torch.nn.Module,
            "zero_grad",
            lambda *_, **__: self._module_cleared(),
        )
        after(torch.amp.GradScaler, "scale", self._loss_scaled)
        patch(torch.amp.GradScaler, "step", self._wrap_scaled_step)
        after(torch.nn.utils, "clip_grad_norm_", self._was_clipped)
        patch(torch.nn.utils, "clip_grad_value_", self._wrap_value_clip)
        state.undo.append(optim.register_optimizer_step_pre_hook(self._before_step).remove)
        state.undo.append(optim.register_optimizer_step_post_hook(self._after_step).remove)

    def _loss_scaled(self, scaled: Tensor, _: Any, outputs: Tensor) -> None:
        if "loss-scaled" not in self.recorder.kinds:
            self.recorder.event("loss-scaled")
        self._scaled = (scaled, outputs)

    def _wrap_scaled_step(self, original: Function) -> Function:
        """A scaler that finds infinite gradients does not let the optimizer step."""

        def step(
            scaler: Any,
            optimizer: Optimizer,
            *args: Any,
            **kwargs: Any,
        ) -> Any:
            number = self.recorder.step
            result = original(scaler, optimizer, *args, **kwargs)
            if self.recorder.step == number and self._skipped < MOST_SKIPPED:
                self._step_skipped()
            return result

        return step

    @guarded("step-end")
    def _step_skipped(self) -> None:
        self._skipped += 1
        loss = self.loss if isinstance(self.loss, float) else NAN
        self.recorder.event(
            "step-skipped",
            finite=loss - loss == 0,
        )

    @guarded("clip")
    def _was_clipped(
        self,
        norm: Any,
        _: Any,
        max_norm: float,
        *__: Any,
        **___: Any,
    ) -> None:
        # A norm that lies on a device is read on sampled steps only: reading it would wait.
        if isinstance(norm, self.torch.Tensor) and (
            norm.is_cpu or self.listener.window is not None
        ):
            self._clipped = (float(norm), float(max_norm))

    @guarded("optimizer")
    def _cleared(self, optimizer: Optimizer, *_: Any, **__: Any) -> None:
        self.zeroed.add(id(optimizer))
        self.listener.cleared(optimizer)
        if id(optimizer) not in self.optimizers:
            # Lightning hands out an optimizer of its own that holds the weights of another.
            first = _first_weight(optimizer)
            known = (one for one in (ref() for ref in self._known) if one is not None)
            self.zeroed.update(
                id(one) for one in known if first is not None and _first_weight(one) is first
            )

    @guarded("module-cleared")
    def _module_cleared(self) -> None:
        self.zeroed.update(self.optimizers)
        self.listener.cleared(None)

    def _wrap_value_clip(self, original: Function) -> Function:
        def clip_grad_value_(
            parameters: Any,
            clip_value: float,
            *args: Any,
            **kwargs: Any,
        ) -> Any:
            # What is given may be read once only.
            given = [parameters] if isinstance(parameters, self.torch.Tensor) else list(parameters)
            self._values_clipped(given, clip_value)
            return original(given, clip_value, *args, **kwargs)

        return clip_grad_value_

    @guarded("clip")
    def _values_clipped(self, weights: list[Tensor], limit: float) -> None:
        # Every gradient is read for it: on sampled steps only.
        grads = [weight.grad for weight in weights if weight.grad is not None]
        if grads and self.listener.window is not None:
            self._clipped = (
                max(float(grad.detach().abs().max()) for grad in grads),
                float(limit),
            )

    @guarded("optimizer")
    def _made(self, optimizer: Optimizer) -> None:
        self.know(optimizer)
        self.made.note(optimizer)

    def know(self, optimizer: Optimizer) -> None:
        """Number an optimizer. One made before anybody looked: what seemed to be moved by hand is
        its step.
        """
        self._manual_open = False
        if id(optimizer) not in self.optimizers:
            number = self.optimizers[id(optimizer)] = len(self.optimizers)
            self._known.append(weakref.ref(optimizer))
            self.recorder.event(
                "optimizer",
                number=number,
                type=type(optimizer).__name__,
            )

    def _wrap_backward(self, original: Function) -> Function:
        forwards = self.forwards
        before = self._before_backward

        def backward(tensors: Any, *args: Any, **kwargs: Any) -> None:
            before(tensors)
            forwards.paused = True
            try:
                original(tensors, *args, **kwargs)
            finally:
                forwards.paused = False
            if self.listener.window is not None:
                self._came()
            if not self.optimizers and not self.others_step:
                self._begin_manual()

        return backward

    @guarded("backward")
    def _before_backward(self, tensors: Any) -> None:
        self._end_manual()
        tensor = tensors if isinstance(tensors, self.torch.Tensor) else tensors[0]
        if self._scaled is not None:
            tensor = self._scaled[1] if self._scaled[0] is tensor else tensor
            self._scaled = None
        if not self.backwards and self._last is not None:
            self._look_for_old_gradients()
        self.backwards += 1
        self.loss, self._divisor = NAN, divisor(tensor)
        if isinstance(tensor, self.torch.Tensor) and tensor.numel() == 1:
            # A copy on its device where it lies on one: reading it there would wait.
            self.loss = (
                tensor.item() if tensor.is_cpu else tensor.detach().float().reshape(1).clone()
            )
        if self.listener.window is not None:
            self.listener.loss_goes_back(tensor)

    def _look_for_old_gradients(self) -> None:
        """Gradients may be cleared by hand: what counts is whether any is left when the next
        ones come.
        """
        optimizer = self._last()
        if optimizer is None or id(optimizer) in self.zeroed:
            return
        left = [tensor.grad for group in optimizer.param_groups for tensor in group["params"]]
        left = [gradient for gradient in left[:8] if gradient is not None]
        readable = all(gradient.is_cpu for gradient in left) or self.listener.window is not None
        if not left or (readable and not any(bool(gradient.any()) for gradient in left)):
            self.zeroed.add(id(optimizer))

    @guarded("backward-end")
    def _came(self) -> None:
        """How large gradients are before the program does something to them."""
        self.listener.gradients_came()
        if self._last is None:
            return
        optimizer = self._last()
        self._fresh = (
            id(optimizer),
            NAN if optimizer is None else _size(self.torch, optimizer),
        )

    @guarded("backward-end")
    def _begin_manual(self) -> None:
        """A program without an optimizer moves its weights by hand before the next backward
        call.
        """
        self._manual_open = True
        if self.listener.window is not None:
            self.listener.update_begins(None)

    def _end_manual(self) -> None:
        if self._manual_open:
            self._manual_open = False
            self.end_step(None, NAN, NAN)

    def _before_step(
        self,
        optimizer: Optimizer,
        args: Args,
        kwargs: Kwargs,
    ) -> None:
        if self.listener.window is not None or id(optimizer) not in self.optimizers:
            self._look_before_step(optimizer, args, kwargs)

    @guarded("step")
    def _look_before_step(
        self,
        optimizer: Optimizer,
        args: Args,
        kwargs: Kwargs,
    ) -> None:
        self.know(optimizer)
        if self.listener.window is None:
            return
        self._look_for_smaller(optimizer)
        closure = kwargs.get("closure") or (args[1] if len(args) > 1 else None)
        parameters = [tensor for group in optimizer.param_groups for tensor in group["params"]]
        self.listener.update_begins(parameters, closure is not None, optimizer)

    def _look_for_smaller(self, optimizer: Optimizer) -> None:
        """Note where the program itself made gradients smaller since they came; a scaler does
        so rightly.
        """
        (owner, fresh), unseen = self._fresh, self._clipped[0] != self._clipped[0]
        if owner == id(optimizer) and unseen and "loss-scaled" not in self.recorder.kinds:
            left = _size(self.torch, optimizer)
            if 0 < left < SHRUNK * fresh:
                self._clipped = (fresh, left)

    @guarded("step-end")
    def _after_step(self, optimizer: Optimizer, *_: Any) -> None:
        if self._last is None or self._last() is not optimizer:
            self._last = weakref.ref(optimizer)
        rate = optimizer.param_groups[0].get("lr", NAN)
        if isinstance(rate, self.torch.Tensor) and not rate.is_cpu and self.listener.window is None:
            # A rate that lies on a device is read on sampled steps only.
            rate = NAN
        self.end_step(
            optimizer,
            float(rate),
            self.carried(optimizer),
        )

    def carried(self, optimizer: Optimizer) -> float:
        """1 when the gradients of the step before were not cleared. The first step carries
        nothing.
        """
        cleared = id(optimizer) in self.zeroed
        self.zeroed.discard(id(optimizer))
        return 0.0 if cleared or self.recorder.step == 0 else 1.0

    def end_step(
        self,
        optimizer: Optimizer | None,
        rate: float,
        carried: float,
    ) -> None:
        """Write the row of the step that just ended and open the next one."""
        recorder = self.recorder
        watch = self.listener
        now = perf_counter()
        looked = watch.update_ends() if watch.window is not None else None
        step = recorder.step
        if self.backwards > 1 and self.backwards == self._divisor:
            self._collected = self._divisor
        loss = self.loss * self._divisor if self._divisor == self._collected > 1 else self.loss
        self.add_row(
            (
                step,
                now - recorder.began,
                watch.epoch(),
                loss,
                rate,
                watch.batch_size(),
                self.backwards,
                carried,
                watch.training,
                0.0 if looked is None else 1.0,
                self.optimizers.get(id(optimizer), 0),
                self.loaders.wait,
                *(looked or _NO_TOTALS),
                *self._clipped,
                memory() if looked is not None else NAN,
            )
        )
        self._clipped, self.loaders.wait = (NAN, NAN), 0.0
        if looked is not None:
            self._account(now)
        else:
            self._ended = now
        recorder.step = step = step + 1
        self.backwards, self.loss = 0, NAN
        if watch.unsettled or step >= self.next_look or step >= self._stop_at:
            self.next_look = recorder.schedule.next(step)
            watch.step_ended()
        if now >= recorder.next_flush or len(recorder.tables["layers"].rows) >= recorder.FLUSH_ROWS:
            self.settle()
            watch.write_data()
            recorder.flush()

    def listen(self, listener: Callable[[Row], None]) -> None:
        """Hand on every row once it is written."""
        add = self.add_row

        def add_and_notify(row: Row) -> None:
            add(row)
            listener(row)

        self.add_row = add_and_notify

    def _account(self, now: float) -> None:
        """Price of the look, and the time of the step without it."""
        end = perf_counter()
        looking = self.listener.cost
        self.listener.cost = 0.0
        price = looking + end - now
        self.recorder.spent += price
        if self._ended is not None:
            self.recorder.schedule.paid(
                price,
                now - self._ended - looking,
            )
        self._ended = end

    def finish(self) -> None:
        """The process ends: a step by hand is still open, losses may still lie on a device."""
        self._end_manual()
        self.settle()

    def settle(self) -> None:
        """Read the losses that lie on a device, all at once, into their rows."""
        table = self.recorder.tables["steps"]
        waiting = [i for i, row in enumerate(table.rows) if not isinstance(row[LOSS], float)]
        if waiting:
            values = self.torch.cat([table.rows[i][LOSS] for i in waiting]).tolist()
            for i, value in zip(waiting, values):
                table.set(i, LOSS, value)


def divisor(loss: Any) -> float:
    """The number that a loss was divided by last, as is done where gradients of several batches are
    collected; 1 where it was not."""
    node: Any = getattr(loss, "grad_fn", None)
    name = node.name() if node is not None else ""
    inputs: Any = node.next_functions if name.startswith(("DivBackward", "MulBackward")) else ()
    if len(inputs) != 2 or inputs[1][0] is not None:
        # Other: a tensor. One input: the loss divides by its rows itself.
        return 1.0
    try:
        number = float(getattr(node, "_saved_other", 1.0))
    except (TypeError, ValueError, RuntimeError):
        return 1.0
    number = 1 / number if name.startswith("Mul") and number else number
    if number > 1 and abs(number - round(number)) < 1e-3 * number:
        return float(round(number))
    return 1.0


def memory() -> float:
    """What the process holds, in MB; NaN where the system does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            pages = int(file.read().split()[1])
    except (OSError, ValueError, IndexError):
        return NAN
    return pages * _PAGE / 1e6


def _first_weight(optimizer: Optimizer) -> Tensor | None:
    for group in optimizer.param_groups:
        for weight in group["params"]:
            return weight
    return None


def _size(torch: Library, optimizer: Optimizer) -> float:
    """The norm of its first gradients."""
    weights = [weight for group in optimizer.param_groups for weight in group["params"]][:FIRST]
    grads = [weight.grad for weight in weights if weight.grad is not None]
    return (
        sum(float(grad.detach().norm()) ** 2 for grad in grads if grad.layout is torch.strided)
        ** 0.5
    )
