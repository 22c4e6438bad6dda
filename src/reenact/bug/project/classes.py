"""A class with its bases: its attributes, how it is constructed and called, and whether arguments fit."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from functools import cached_property

from reenact.bug.project.lookup import Class, Codebase, Function, Module, Outside, bound_names

PLAIN_BASES = frozenset({"object", "ABC", "Protocol", "Generic"})
CALLED = ("__call__", "forward", "call")
"""What runs when an object is called: its own `__call__`, else what the layers of torch and Keras run."""


@dataclass(frozen=True)
class Shape:
    """What is known of a class."""

    own: Class
    chain: tuple[Class, ...]
    """The class and its bases inside the project, nearest first."""
    closed: bool
    """Whether no base outside the project can add anything."""

    def method(self, name: str) -> Function | None:
        """The method of that name, the nearest one."""
        return self.methods.get(name)

    @cached_property
    def methods(self) -> dict[str, Function]:
        """Methods of the class and its bases in the project, the nearest of each name."""
        nearest: dict[str, Function] = {}
        for one in self.chain:
            for node in one.node.body:
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    nearest.setdefault(node.name, Function(node, one.module))
        return nearest

    def has(self, name: str) -> bool:
        """Whether an object of the class may have this attribute."""
        if not self.closed or (name.startswith("__") and name.endswith("__")):
            return True
        return self.method("__getattr__") is not None or name in self.attributes

    @property
    def attributes(self) -> frozenset[str]:
        """Every attribute that the text of the classes shows."""
        return frozenset(name for one in self.chain for name in _attributes(one.node))

    @property
    def called(self) -> Function | None:
        """What runs when an object is called, if the project says so."""
        return next((found for name in CALLED if (found := self.method(name)) is not None), None)

    @property
    def is_dataclass(self) -> bool:
        return is_dataclass(self.own)


def is_dataclass(found: Class) -> bool:
    """Whether a decorator says so."""
    return any("dataclass" in ast.unparse(mark) for mark in found.node.decorator_list)


def shape_of(project: Codebase, own: Class) -> Shape:
    """The class with all that its bases inside the project add."""
    chain: list[Class] = []
    closed = not own.node.keywords
    waiting = [own]
    while waiting:
        one = waiting.pop(0)
        if one in chain:
            continue
        chain.append(one)
        for base in one.node.bases:
            found = _base(project, one, base)
            if isinstance(found, Class):
                waiting.append(found)
            elif not found:
                closed = False
    marks = [ast.unparse(mark).partition("(")[0].rpartition(".")[2] for mark in own.node.decorator_list]
    return Shape(own, tuple(chain), closed and all(mark == "dataclass" for mark in marks))


def _base(project: Codebase, one: Class, base: ast.expr) -> Class | bool:
    """A base class of the project; else whether it is one that adds nothing."""
    text = ast.unparse(base).partition("[")[0]
    if text.rpartition(".")[2] in PLAIN_BASES:
        return True
    module = project.module(one.module)
    found = _through(project, module, text) if module is not None else Outside(text)
    return found if isinstance(found, Class) else False


def _through(project: Codebase, module: Module, text: str) -> object:
    first, _, rest = text.partition(".")
    found = project.member(module, first)
    for part in rest.split(".") if rest else []:
        if not isinstance(found, Module):
            return None
        found = project.member(found, part)
    return found


def _attributes(node: ast.ClassDef) -> Iterator[str]:
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield statement.name
        else:
            yield from bound_names(statement)
    for inner in ast.walk(node):
        if not isinstance(inner, ast.Attribute) or not isinstance(inner.ctx, ast.Store):
            continue
        if isinstance(inner.value, ast.Name) and inner.value.id in ("self", "cls"):
            yield inner.attr


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
