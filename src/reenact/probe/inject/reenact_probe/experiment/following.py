"""Which modules of a model a change reaches: the output of each, as it ends, and the program's own line."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from reenact_probe.experiment.tape import tensors_in
from reenact_probe.places import is_library
from reenact_probe.types import Facts, Module, Tensor


class Ended(NamedTuple):
    """A module whose forward came to its end."""

    module: Module
    parent: Module | None
    """The program's own module that called it."""
    part: Tensor
    """What is looked at of its output."""
    whole: Tensor


@contextlib.contextmanager
def following(module: Module, part: Callable[[Tensor], Tensor | None], ended: list[Ended]) -> Iterator[None]:
    """Note this part of the output of each module, with the program's own module that called it."""
    stack: list[Module] = []

    def begins(inner: Module, _: Any) -> None:
        stack.append(inner)

    def ends(inner: Module, _: Any, output: Any) -> None:
        if stack and stack[-1] is inner:
            stack.pop()
        tensor = next((t for t in outputs(output) if t.is_floating_point()), None)
        kept = part(tensor) if tensor is not None else None
        if tensor is not None and kept is not None:
            own = next((outer for outer in reversed(stack) if not is_library(_file(outer))), None)
            ended.append(Ended(inner, own, kept.detach().float(), tensor.detach().float()))

    handles = []
    for inner in module.modules():
        handles += [inner.register_forward_pre_hook(begins), inner.register_forward_hook(ends)]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def outputs(output: Any) -> Iterator[Tensor]:
    """Tensors of an output, whatever holds them."""
    if hasattr(output, "grad_fn") or isinstance(output, (dict, tuple, list)):
        yield from tensors_in(output)
    elif hasattr(output, "__dict__"):
        yield from tensors_in(vars(output))


def mover(ended: Ended, name: str) -> Facts:
    """A module of the program's own, or one of a library beside the program's line that calls it."""
    lent = is_library(_file(ended.module)) and ended.parent is not None
    owner = ended.parent if lent else ended.module
    return {"module": name, "type": type(ended.module).__name__, "forward": _forward(owner)}


def _file(module: Module) -> str:
    code = getattr(getattr(type(module), "forward", None), "__code__", None)
    return code.co_filename if code is not None else "<unknown>"


def _forward(module: Module) -> list[Any] | None:
    """`[file, first line, 0, last line, 0]` of a module's forward."""
    code = getattr(getattr(type(module), "forward", None), "__code__", None)
    if code is None or is_library(code.co_filename):
        return None
    try:
        lines = inspect.getsourcelines(code)[0]
    except (OSError, TypeError):
        lines = [""]
    return [code.co_filename, code.co_firstlineno, 0, code.co_firstlineno + len(lines) - 1, 0]
