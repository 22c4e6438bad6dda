"""The head of a definition on one line; a long one keeps what must be given and what the report gives."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass

LONGEST = 450
"""Characters of a list of parameters; of a longer one the middle is left out."""


@dataclass(frozen=True, slots=True)
class _Parameter:
    text: str
    needed: bool


def function_head(node: ast.FunctionDef | ast.AsyncFunctionDef, wanted: Collection[str]) -> str:
    """`def fit(self, x, epochs=1) -> Net`, with the decorators that change how it is called."""
    marks = [ast.unparse(mark) for mark in node.decorator_list]
    known = "".join(f"@{mark} " for mark in marks if mark in ("staticmethod", "classmethod", "property"))
    gives = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    return f"{known}{word} {node.name}({parameters(node.args, wanted)}){gives}"


def fields(node: ast.ClassDef) -> str:
    """The fields of a dataclass as parameters."""
    return ", ".join(ast.unparse(line) for line in node.body if isinstance(line, ast.AnnAssign))


def parameters(taken: ast.arguments, wanted: Collection[str], *, bound: bool = False) -> str:
    """Parameters with annotations and defaults; without `self` for one that is bound."""
    listed = list(_listed(taken, wanted))[1 if bound else 0 :]
    room = LONGEST - sum(len(one.text) + 2 for one in listed if one.needed)
    shown: list[str] = []
    for one in listed:
        if not one.needed:
            room -= len(one.text) + 2
        if one.needed or room > 0:
            shown.append(one.text)
        elif shown[-1:] != ["..."]:
            shown.append("...")
    return ", ".join(shown)


def _listed(taken: ast.arguments, wanted: Collection[str]) -> Iterator[_Parameter]:
    positional = [*taken.posonlyargs, *taken.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(taken.defaults))
    for number, (one, default) in enumerate(zip(positional, [*defaults, *taken.defaults], strict=True), 1):
        yield _parameter(one, default, wanted)
        if number == len(taken.posonlyargs):
            yield _Parameter("/", True)
    if taken.vararg is not None:
        yield _Parameter(f"*{ast.unparse(taken.vararg)}", True)
    elif taken.kwonlyargs:
        yield _Parameter("*", True)
    for one, default in zip(taken.kwonlyargs, taken.kw_defaults, strict=True):
        yield _parameter(one, default, wanted)
    if taken.kwarg is not None:
        yield _Parameter(f"**{ast.unparse(taken.kwarg)}", True)


def _parameter(one: ast.arg, default: ast.expr | None, wanted: Collection[str]) -> _Parameter:
    text = ast.unparse(one)
    if default is not None:
        text += f"{' = ' if one.annotation else '='}{ast.unparse(default)}"
    return _Parameter(text if len(text) <= 80 else f"{text[:77]}...", default is None or one.arg in wanted)
