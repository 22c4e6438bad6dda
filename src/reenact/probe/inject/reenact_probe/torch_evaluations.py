"""Notices that somebody is about to evaluate, and has a few passes looked at."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from reenact_probe.guard import guarded, patch
from reenact_probe.places import LIBRARY, is_library
from reenact_probe.types import Function, Library, Module

if TYPE_CHECKING:
    from reenact_probe.torch_watch import TorchWatch

PASSES_AN_EVALUATION = 3


class Evaluations:
    """Signs of an evaluation: `eval()`, a stretch without gradients, another loader."""

    def __init__(self, torch: Library, watch: TorchWatch) -> None:
        self.watch = watch
        self._evaluated: int | None = None
        """The step between whose end and the next one an evaluation was looked at."""
        patch(torch.nn.Module, "eval", self._wrap_eval)
        for context in (torch.no_grad, torch.inference_mode):
            patch(context, "__enter__", self._wrap_enter)
            patch(context, "__exit__", self._wrap_exit)

    def _wrap_eval(self, original: Function) -> Function:
        def eval(module: Module) -> Any:  # noqa: A001
            self.look()
            return original(module)

        return eval

    def _wrap_enter(self, original: Function) -> Function:
        getframe = sys._getframe

        def __enter__(context: Any) -> Any:  # noqa: N807
            # Keras enters eight times a step: its files are told apart without a call.
            file = getframe(1).f_code.co_filename
            if not LIBRARY.get(file) and not is_library(file):
                self.look()
            return original(context)

        return __enter__

    def _wrap_exit(self, original: Function) -> Function:
        def __exit__(context: Any, *error: Any) -> Any:  # noqa: N807
            # A long evaluation used up its looks; the training pass that comes next is still wanted.
            if self.watch.window is not None and not self.watch.forwards.armed:
                self._arm_step()
            return original(context, *error)

        return __exit__

    @guarded("arm")
    def _arm_step(self) -> None:
        self.watch.arm_step()

    @guarded("evaluation")
    def look(self) -> None:
        """Somebody is about to evaluate: look at a few passes, once between two steps."""
        step = self.watch.recorder.step
        if self._evaluated != step and step:
            self._evaluated = step
            self.watch.sight.evaluation_begins()
            self.watch.forwards.arm(evaluation=PASSES_AN_EVALUATION)
