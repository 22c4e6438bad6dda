"""Sees forward passes: global module hooks that are registered only while somebody wants to look.

On a step no one looks at, no hook is registered and a forward pass costs what it always costs. The
signs that an evaluation begins are noticed here too: `eval()`, a stretch without gradients, another
loader.
"""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass
from typing import Any, Protocol

from reenact_probe.guard import before, guarded, patch, state
from reenact_probe.places import LIBRARY, is_library
from reenact_probe.recorder import Recorder
from reenact_probe.torch.window import Window
from reenact_probe.types import Args, Function, Kwargs, Library, Module

ASKED = "_has_any_global_hook"
KEPT = ("_global_backward", "_global_forward")
MARKS = "_global_forward_hooks_with_kwargs"
"""Where torch asks for hooks on all modules, and where it keeps them."""
PASSES_A_STEP = 4
PASSES_AN_EVALUATION = 3
PASSES_WHOLE = 1 << 30
"""Until the next step, or until no one wants more."""


@dataclass(eq=False)
class Call:
    """A module that is being executed."""

    module: Module
    hidden: bool
    """It runs inside a layer whose inside is its own business."""
    shuts: bool
    had_child: bool = False


class PassListener(Protocol):
    """Who is notified of passes."""

    window: Window | None

    def evaluation_begins(self) -> bool: ...
    def is_closed(self, module: Module) -> bool: ...
    def root_begins(self, module: Module) -> None: ...
    def layer_called(
        self,
        module: Module,
        args: Args,
        kwargs: Kwargs,
        output: Any,
    ) -> None: ...
    def root_ends(
        self,
        module: Module,
        args: Args,
        kwargs: Kwargs,
        output: Any,
    ) -> str | None: ...


class ForwardHooks:
    """Keeps the stack of running modules and informs the listener: root_begins, layer_called,
    root_ends.
    """

    def __init__(
        self,
        torch: Library,
        recorder: Recorder,
        listener: PassListener,
    ) -> None:
        self.torch = torch
        self.recorder = recorder
        self.listener = listener
        self.stack: list[Call] = []
        self.failed: tuple[BaseException | None, Module, Args, Kwargs] = (
            None,
            None,
            (),
            {},
        )
        """The innermost module whose forward raised, for the report of a crash."""
        self.paused = False
        """A backward pass runs: what it calls again was seen before."""
        self._left = {"training": 0, "evaluation": 0}
        """Passes still to be looked at, by kind."""
        self._thread = threading.get_ident()
        self.handles: tuple[Any, ...] = ()
        """Registered while somebody looks."""
        self._evaluated: int | None = None
        """The step between whose end and the next one an evaluation was looked at."""
        self._is_compiling = torch.compiler.is_compiling
        state.undo.append(self.disarm)
        before(
            torch.nn.Module,
            "eval",
            lambda _: self.expect_evaluation(),
        )
        for context in (torch.no_grad, torch.inference_mode):
            patch(context, "__enter__", self._wrap_enter)
            before(context, "__exit__", self._evaluation_ends)
        if hasattr(torch.nn.modules.module, ASKED):
            # A compiled model warns of hooks on all modules: of ours it need not.
            patch(
                torch.nn.modules.module,
                ASKED,
                lambda asked: lambda: asked() and not self._alone(),
            )

    def _alone(self) -> bool:
        """All hooks on all modules are ours."""
        own = {handle.id for handle in self.handles}
        module = vars(self.torch.nn.modules.module)
        kept = [
            value
            for name, value in module.items()
            if name.startswith(KEPT) and isinstance(value, dict)
        ]
        return all(own.issuperset(hooks) for hooks in kept)

    def arm(self, training: int = 0, evaluation: int = 0) -> None:
        """Look at the next forward passes, so many of each kind."""
        for kind, passes in (("training", training), ("evaluation", evaluation)):
            self._left[kind] = max(self._left[kind], passes)
        if self.handles:
            return
        module = self.torch.nn.modules.module
        self.stack = []
        self.handles = (
            module.register_module_forward_pre_hook(self.before),
            module.register_module_forward_hook(self.after, with_kwargs=True, always_call=True),
        )

    @property
    def innermost(self) -> Module | None:
        """The module that runs right now."""
        return self.stack[-1].module if self.stack else None

    def disarm(self) -> None:
        handles = self.handles
        self.handles = ()
        # Removing a hook leaves its mark in this table of torch's, and compiled models warn of it.
        marks = getattr(self.torch.nn.modules.module, MARKS, {})
        for handle in handles:
            handle.remove()
            marks.pop(handle.id, None)

    def before(self, module: Module, _: Any) -> None:
        # A compiler that traces this hook must find nothing to trace: this test is a constant to
        # it.
        if not (self._is_compiling() or self.paused or threading.get_ident() != self._thread):
            self._enter(module)

    def after(self, module: Module, args: Args, *rest: Any) -> None:
        if not (self._is_compiling() or self.paused or threading.get_ident() != self._thread):
            kwargs, output = rest if len(rest) == 2 else ({}, rest[0])
            self._leave(module, args, kwargs, output)

    @guarded("forward")
    def _enter(self, module: Module) -> None:
        if self.torch._C._get_tracing_state():
            return
        stack = self.stack
        hidden = bool(stack) and stack[-1].shuts
        if stack and not hidden:
            stack[-1].had_child = True
        stack.append(
            Call(
                module,
                hidden,
                hidden or self.listener.is_closed(module),
            )
        )
        if len(stack) == 1:
            self.listener.root_begins(module)

    @guarded("forward-end")
    def _leave(
        self,
        module: Module,
        args: Args,
        kwargs: Kwargs,
        output: Any,
    ) -> None:
        call = None
        # What an exception left above the module goes with it.
        while self.stack and (call is None or call.module is not module):
            call = self.stack.pop()
        if call is None or call.module is not module:
            return
        error = sys.exc_info()[1] if output is None else None
        if error is not None:
            self.failed = self.failed if self.failed[0] is error else (error, module, args, kwargs)
        elif not call.hidden and (not call.had_child or module._parameters):
            self.listener.layer_called(module, args, kwargs, output)
        kind = None if self.stack else self.listener.root_ends(module, args, kwargs, output)
        if kind is not None:
            self._left[kind] -= 1
            if self._left[kind] <= 0:
                self.disarm()

    def _wrap_enter(self, original: Function) -> Function:
        getframe = sys._getframe

        def __enter__(context: Any) -> Any:  # noqa: N807
            # Keras enters eight times a step: its files are recognised without a call.
            file = getframe(1).f_code.co_filename
            if not LIBRARY.get(file) and not is_library(file):
                self.expect_evaluation()
            return original(context)

        return __enter__

    def _evaluation_ends(self, *_: Any) -> None:
        # A long evaluation used up its looks; the training pass that comes next is still wanted.
        if self.listener.window is not None and not self.handles:
            guarded("arm")(self.arm)(training=PASSES_A_STEP)

    @guarded("evaluation")
    def expect_evaluation(self) -> None:
        """Somebody is about to evaluate: look at a few passes, once between two steps."""
        step = self.recorder.step
        if self._evaluated != step and step:
            self._evaluated = step
            whole = self.listener.evaluation_begins()
            self.arm(evaluation=PASSES_WHOLE if whole else PASSES_AN_EVALUATION)

    def seen_enough(self) -> None:
        """No more passes of this evaluation are wanted after the one under way."""
        self._left["evaluation"] = 1
