"""Whether the arguments of a call fit the parameters of a function, by their text alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass

from reenact.bug.project.classes import Shape
from reenact.bug.project.module import Function

KEEPS_ARGUMENTS = frozenset(
    {
        "staticmethod",
        "classmethod",
        "abstractmethod",
        "no_grad",
        "inference_mode",
        "lru_cache",
        "cache",
        "override",
    }
)
"""Decorators that leave the parameters as they are; others may change them."""


@dataclass(frozen=True)
class Signature:
    """The parameters of something that can be called, without `self`."""

    positional: tuple[str, ...]
    named_only: tuple[str, ...]
    required: frozenset[str]
    positional_only: int
    takes_more: bool
    """`*args`."""
    takes_any: bool
    """`**kwargs`."""
    text: str


def signature_of(function: Function, *, bound: bool) -> Signature | None:
    """The parameters of a function; none when a decorator may change them."""
    node = function.node
    marks = [ast.unparse(mark).partition("(")[0].rpartition(".")[2] for mark in node.decorator_list]
    if any(mark not in KEEPS_ARGUMENTS for mark in marks):
        return None
    arguments = node.args
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    required = names[: len(names) - len(arguments.defaults)]
    only = [one.arg for one in arguments.kwonlyargs]
    required += [name for name, default in zip(only, arguments.kw_defaults, strict=True) if default is None]
    skipped = 1 if bound and "staticmethod" not in marks else 0
    return Signature(
        tuple(names[skipped:]),
        tuple(only),
        frozenset(required) - frozenset(names[:skipped]),
        max(0, len(arguments.posonlyargs) - skipped),
        arguments.vararg is not None,
        arguments.kwarg is not None,
        ast.unparse(_without(arguments, skipped)),
    )


def _without(arguments: ast.arguments, skipped: int) -> ast.arguments:
    """The parameters without `self`, for a reader."""
    made = copy(arguments)
    if made.posonlyargs:
        made.posonlyargs = made.posonlyargs[skipped:]
    else:
        made.args = made.args[skipped:]
    return made


def construction(shape: Shape) -> Signature | None:
    """The parameters of a class; none when they cannot be known."""
    init = shape.method("__init__")
    if init is not None:
        return signature_of(init, bound=True)
    if not shape.closed or shape.method("__new__") is not None:
        return None
    if shape.is_dataclass:
        return _fields(shape)
    return Signature((), (), frozenset(), 0, takes_more=False, takes_any=False, text="")


def _fields(shape: Shape) -> Signature | None:
    names: list[str] = []
    required: list[str] = []
    for one in reversed(shape.chain):
        for line in one.node.body:
            if not isinstance(line, ast.AnnAssign) or not isinstance(line.target, ast.Name):
                continue
            if "ClassVar" in ast.unparse(line.annotation) or "field(" in ast.unparse(line):
                return None
            names.append(line.target.id)
            required += [line.target.id] if line.value is None else []
    names = list(dict.fromkeys(names))
    return Signature(tuple(names), (), frozenset(required), 0, False, False, ", ".join(names))


def misfits(call: ast.Call, signature: Signature, name: str) -> Iterator[str]:
    """What is wrong with the arguments of a call, one sentence each."""
    takes = f"It takes ({signature.text})."
    known = {*signature.positional[signature.positional_only :], *signature.named_only}
    given = [one.arg for one in call.keywords if one.arg is not None]
    for word in given:
        if word not in known and not signature.takes_any:
            yield f"`{name}` has no parameter `{word}`. {takes}"
    starred = any(isinstance(one, ast.Starred) for one in call.args)
    unpacked = len(given) < len(call.keywords)
    if not starred and len(call.args) > len(signature.positional) and not signature.takes_more:
        yield f"`{name}` takes at most {len(signature.positional)} positional arguments. {takes}"
    if starred or unpacked:
        return
    filled = {*signature.positional[: len(call.args)], *given}
    missing = sorted(signature.required - filled)
    if missing:
        yield f"`{name}` is called without {', '.join(f'`{one}`' for one in missing)}. {takes}"
