"""Sees forward passes: global module hooks that are registered only while somebody wants to look.

On a step nobody looks at, no hook is registered and a forward pass costs what it always costs.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

from reenact_probe.guard import guarded, patch, state
from reenact_probe.types import Args, Function, Kwargs, Library, Module

if TYPE_CHECKING:
    from reenact_probe.torch_passes import Passes

ASKED = "_has_any_global_hook"
KEPT = ("_global_backward", "_global_forward")
"""Where torch asks for hooks on all modules, and where it keeps them."""


class Call:
    """A module that is being executed."""

    __slots__ = ("had_child", "hidden", "module", "shuts")

    def __init__(self, module: Module, hidden: bool, shuts: bool) -> None:
        self.module = module
        self.hidden = hidden
        """It runs inside a layer whose inside is its own business."""
        self.shuts = hidden or shuts
        self.had_child = False


class ForwardHooks:
    """Keeps the stack of running modules and tells the listener: root_begins, layer_called, root_ends."""

    def __init__(self, torch: Library, listener: Passes) -> None:
        self.torch = torch
        self.listener = listener
        self.stack: list[Call] = []
        self.failed: tuple[BaseException | None, Module, Args, Kwargs] | None = None
        """The innermost module whose forward raised, for the report of a crash."""
        self.in_backward = False
        self._left = {"training": 0, "evaluation": 0}
        """Passes still to be looked at, by kind."""
        self._thread = threading.get_ident()
        self._handles: tuple[Any, ...] = ()
        self._is_compiling = torch.compiler.is_compiling
        state.undo.append(self.disarm)
        if hasattr(torch.nn.modules.module, ASKED):
            patch(torch.nn.modules.module, ASKED, self._wrap_asked)

    def _wrap_asked(self, original: Function) -> Function:
        """A compiled model warns of hooks on all modules: of ours it need not."""

        def _has_any_global_hook() -> Any:
            return original() and not self._alone()

        return _has_any_global_hook

    def _alone(self) -> bool:
        """All hooks on all modules are ours."""
        own = {handle.id for handle in self._handles}
        module = vars(self.torch.nn.modules.module)
        kept = [value for name, value in module.items() if name.startswith(KEPT) and isinstance(value, dict)]
        return all(own.issuperset(hooks) for hooks in kept)

    @property
    def armed(self) -> bool:
        return bool(self._handles)

    def arm(self, training: int = 0, evaluation: int = 0) -> None:
        """Look at the next forward passes, so many of each kind."""
        left = self._left
        left["training"] = max(left["training"], training)
        left["evaluation"] = max(left["evaluation"], evaluation)
        if self._handles:
            return
        module = self.torch.nn.modules.module
        self.stack = []
        self._handles = (
            module.register_module_forward_pre_hook(self._before),
            module.register_module_forward_hook(self._after, with_kwargs=True, always_call=True),
        )

    def disarm(self) -> None:
        handles, self._handles = self._handles, ()
        for handle in handles:
            handle.remove()

    def _before(self, module: Module, _: Any) -> None:
        # A compiler that traces this hook must find nothing to trace: this test is a constant to it.
        if self._is_compiling() or self.in_backward or threading.get_ident() != self._thread:
            return
        self._enter(module)

    def _after(self, module: Module, args: Args, *rest: Any) -> None:
        if self._is_compiling() or self.in_backward or threading.get_ident() != self._thread:
            return
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
        stack.append(Call(module, hidden, self.listener.is_closed(module)))
        if len(stack) == 1:
            self.listener.root_begins(module)

    @guarded("forward-end")
    def _leave(self, module: Module, args: Args, kwargs: Kwargs, output: Any) -> None:
        call = self._pop(module)
        if call is None:
            return
        if output is None and sys.exc_info()[0] is not None:
            self._note_failure(module, args, kwargs)
        elif not call.hidden and (not call.had_child or module._parameters):
            self.listener.layer_called(module, args, kwargs, output)
        if not self.stack:
            self._root_left(module, args, kwargs, output)

    def _pop(self, module: Module) -> Call | None:
        """Take the module off the stack, with whatever an exception left above it."""
        while self.stack:
            call = self.stack.pop()
            if call.module is module:
                return call
        return None

    def _root_left(self, module: Module, args: Args, kwargs: Kwargs, output: Any) -> None:
        kind = self.listener.root_ends(module, args, kwargs, output)
        if kind is not None:
            self._left[kind] -= 1
            if self._left[kind] <= 0:
                self.disarm()

    def _note_failure(self, module: Module, args: Args, kwargs: Kwargs) -> None:
        error = sys.exc_info()[1]
        if self.failed is None or self.failed[0] is not error:
            self.failed = (error, module, args, kwargs)
