"""The public surface of what a report mentions: where to import it from, its parameters and defaults."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from reenact.bug.context.code import Code
from reenact.bug.context.context import Signature
from reenact.bug.project.classes import is_dataclass, shape_of
from reenact.bug.project.lookup import Class, Function

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


MOST_METHODS = 5
"""Public methods of a class that are shown: those that the report names, then its own."""
MOST_PACKAGES = 400
"""Chunks that hold a name and are asked whether they export it."""
PRIVATE = ("src", "internal", "_internal", "impl", "api", "tests", "testing")
"""Parts of a module's name by which a user does not import."""


@dataclass(frozen=True, slots=True)
class Target:
    """A definition whose surface is wanted."""

    found: Class | Function
    owner: Class | None = None
    """The class of a method."""


def signatures(code: Code, targets: Iterable[Target], wanted: Collection[str]) -> tuple[Signature, ...]:
    """Signatures of the targets in their order, each once; `wanted` are names of the report."""
    found: dict[tuple[str, str], Signature] = {}
    for target in targets:
        for one in _of_target(code, target, wanted):
            found.setdefault((one.name, one.text), one)
    return tuple(found.values())


def _of_target(code: Code, target: Target, wanted: Collection[str]) -> Iterator[Signature]:
    if isinstance(target.found, Class):
        yield from _of_class(code, target.found, wanted)
    elif target.owner is not None:
        yield from _constructions(code, target.owner, wanted)
        yield from _method(code, target.owner, target.found, wanted)
    elif (place := code.place(target.found)) is not None:
        node = target.found.node
        yield _signature(
            import_name(code, target.found, node.name), place[0], node, function_head(node, wanted)
        )


def _of_class(code: Code, found: Class, wanted: Collection[str]) -> Iterator[Signature]:
    yield from _constructions(code, found, wanted)
    shape = shape_of(code.project, found)
    public = [one for one in shape.methods.values() if not one.node.name.startswith("_")]
    named = [one for one in public if one.node.name in wanted]
    own = [one for one in public if one not in named and one.node in found.node.body]
    for one in (*named, *own[: max(0, MOST_METHODS - len(named))]):
        yield from _method(code, found, one, wanted)


def _constructions(code: Code, found: Class, wanted: Collection[str]) -> Iterator[Signature]:
    """How an object is made; where arguments are handed on, also how the base is made."""
    place = code.place(found)
    if place is None:
        return
    name = import_name(code, found, found.name)
    bases = ", ".join(ast.unparse(base) for base in found.node.bases)
    kind = f"class {found.name}({bases})" if bases else f"class {found.name}"
    shape = shape_of(code.project, found)
    made = [one for one in shape.chain if _own_init(one) is not None or is_dataclass(one)]
    if not made:
        yield _signature(name, place[0], found.node, kind)
        return
    for one in made:
        init = _own_init(one)
        taken = parameters(init.args, wanted, bound=True) if init is not None else fields(one.node)
        shown = f"{kind}; {found.name}({taken})" if one is made[0] else f"{one.name}({taken})"
        owner = name if one is made[0] else import_name(code, one, one.name)
        where = code.place(one)
        yield _signature(owner, where[0] if where else place[0], one.node, shown)
        if init is None or init.args.kwarg is None:
            return


def _method(code: Code, owner: Class, found: Function, wanted: Collection[str]) -> Iterator[Signature]:
    place = code.place(found)
    if place is not None:
        name = f"{import_name(code, owner, owner.name)}.{found.node.name}"
        yield _signature(name, place[0], found.node, function_head(found.node, wanted))


def import_name(code: Code, found: Class | Function, name: str) -> str:
    """The dotted name by which users reach a definition: packages re-export, and hide where things lie."""
    parts = found.module.split(".")
    above = [".".join(parts[:size]) for size in range(1, len(parts))]
    chunks, _ = code.index.postings.of(name.strip("_").lower())
    paths = {code.path(number) for number in chunks[:MOST_PACKAGES].tolist()}
    packages = [code.modules[path] for path in sorted(paths) if path.name == "__init__.py"]
    there = [package for package in (*above, *packages) if _exports(code, package, found, name)]
    return f"{min([*there, found.module], key=_publicity)}.{name}"


def _exports(code: Code, package: str, found: Class | Function, name: str) -> bool:
    module = code.project.module(package)
    there = code.project.member(module, name) if module is not None else None
    if not isinstance(there, Class | Function):
        return False
    return there.module == found.module and there.node.lineno == found.node.lineno


def _publicity(module: str) -> tuple[bool, int, str]:
    parts = module.split(".")
    return any(part in PRIVATE or part.startswith("_") for part in parts), len(parts), module


def _signature(
    name: str, path: PurePosixPath, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, text: str
) -> Signature:
    doc = (ast.get_docstring(node) or "").strip().partition("\n")[0][:160]
    return Signature(name, path, node.lineno, text, doc)


def _own_init(found: Class) -> ast.FunctionDef | None:
    for node in found.node.body:
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            return node
    return None
