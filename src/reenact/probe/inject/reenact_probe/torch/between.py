"""What an evaluation does with an output, between one forward pass and the next: which labels it is compared
with, where no loader gave them.

A torch function mode is there between two passes only: inside a model it would change which kernels
attention takes. It calls what was called with what it was given, and notes comparisons and losses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from reenact_probe.guard import guarded, state
from reenact_probe.torch.capture import LOSSES
from reenact_probe.types import Args, Function, Kwargs, Library, Tensor

EQUAL = frozenset({"eq", "__eq__", "equal"})
MOST_CALLS = 200
"""Calls after an output that are followed."""
MOST_SCORES = 6
"""Tensors of which answers are asked whether they are made of them."""
MOST_FOLLOWED = 48
"""Tensors made of it that are followed."""


class Comparing(Protocol):
    """Who is notified of comparisons."""

    def judged_by_loss(self, prediction: Tensor, target: Tensor) -> object:
        """A loss compares these."""

    def answered(
        self,
        answers: Tensor,
        labels: Tensor,
        made_of: list[Tensor],
    ) -> object:
        """Answers were asked whether they are these labels; what they may be made of."""


class Between:
    """Follows one output at a time."""

    def __init__(self, torch: Library, listener: Comparing) -> None:
        self.torch = torch
        self.listener = listener
        self._followed: dict[int, Tensor] = {}
        """By identity, and held so that no other takes it."""
        self._calls = 0
        self._on = False
        self._mode = make_mode(torch, self)
        self._depth: Callable[[], int] | None = getattr(torch._C, "_len_torch_function_stack", None)
        state.undo.append(self.leave)

    def follow(self, output: Any) -> None:
        """Follow this output until the next pass, unless a mode of the program is there."""
        tensors = output.values() if isinstance(output, dict) else output
        tensors = tensors if isinstance(output, (dict, list, tuple)) else [output]
        kept = [one for one in tensors if isinstance(one, self.torch.Tensor)][:4]
        self._followed = {id(one): one for one in kept}
        self._calls = 0
        if kept and not self._on and self._depth is not None and self._depth() == 0:
            self._mode.__enter__()
            self._on = True
        self._mode.listens = self._on

    def leave(self) -> None:
        """Go, where the mode lies on top; else the next call tries again."""
        self._mode.listens = False
        self._followed = {}
        depth = self._depth() if self._on and self._depth is not None else 0
        if depth > 0 and self.torch._C._get_function_stack_at(depth - 1) is self._mode:
            self._mode.__exit__(None, None, None)
            self._on = False

    @property
    def on(self) -> bool:
        """Something is still open."""
        return self._on

    @guarded("between")
    def called(
        self,
        name: str,
        args: Args,
        kwargs: Kwargs,
        output: Any,
    ) -> None:
        self._calls += 1
        if self._calls > MOST_CALLS:
            self._mode.listens = False
            return
        tensors = [one for one in (*args, *kwargs.values()) if isinstance(one, self.torch.Tensor)]
        known = [id(one) in self._followed for one in tensors]
        if not any(known):
            return
        if name in EQUAL and len(tensors) == 2 and not all(known):
            answers, labels = tensors if known[0] else reversed(tensors)
            scores = [one for one in self._followed.values() if one.is_floating_point()]
            self.listener.answered(answers, labels, scores[:MOST_SCORES])
        elif name in LOSSES and len(tensors) >= 2 and known[0] and not known[1]:
            self.listener.judged_by_loss(*tensors[:2])
        elif isinstance(output, self.torch.Tensor):
            self._keep(output)
        elif isinstance(output, tuple):
            for one in output[:2]:
                self._keep(one)

    def _keep(self, tensor: Any) -> None:
        if isinstance(tensor, self.torch.Tensor) and len(self._followed) < MOST_FOLLOWED:
            self._followed[id(tensor)] = tensor


def make_mode(torch: Library, listener: Between) -> Any:
    """A mode that informs the listener of each call."""

    class Following(torch.overrides.TorchFunctionMode):
        listens = False

        def __torch_function__(
            self,
            func: Function,
            types: Any,
            args: Any = (),
            kwargs: Any = None,
        ) -> Any:
            kwargs = kwargs or {}
            output = func(*args, **kwargs)
            if self.listens and not state.asleep:
                listener.called(getattr(func, "__name__", ""), args, kwargs, output)
            return output

    return Following()
