"""The public surface of what a report mentions: where to import it from, its parameters and defaults."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from reenact.bug.context.context import Signature
from reenact.bug.context.index import CodeIndex
from reenact.bug.project.codebase import Class, Function
from reenact.codegen.syntax import FunctionNode

LONGEST = 450
"""Characters of a list of parameters; of a longer one the middle is left out."""


@dataclass(frozen=True, slots=True)
class _Parameter:
    text: str
    needed: bool


def function_head(node: FunctionNode, wanted: Collection[str]) -> str:
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
    space = LONGEST - sum(len(one.text) + 2 for one in listed if one.needed)
    shown: list[str] = []
    for one in listed:
        if not one.needed:
            space -= len(one.text) + 2
        if one.needed or space > 0:
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


def signatures(code: CodeIndex, targets: Iterable[Target], wanted: Collection[str]) -> tuple[Signature, ...]:
    """Signatures of the targets in their order, each once; `wanted` are names of the report."""
    surface = _Surface(code, wanted)
    found: dict[tuple[str, str], Signature] = {}
    for one in (one for target in targets for one in surface.of(target)):
        found.setdefault((one.name, one.text), one)
    return tuple(found.values())


@dataclass(frozen=True)
class _Surface:
    """What can be imported and called, with the parameters that matter."""

    code: CodeIndex
    wanted: Collection[str]

    def of(self, target: Target) -> Iterator[Signature]:
        found = target.found
        if isinstance(found, Class):
            yield from self._constructions(found)
            public = [one for one in found.methods.values() if not one.node.name.startswith("_")]
            named = [one for one in public if one.node.name in self.wanted]
            own = [one for one in public if one not in named and one.node in found.node.body]
            for one in (*named, *own[: max(0, MOST_METHODS - len(named))]):
                yield from self._function(one, found)
            return
        if target.owner is not None:
            yield from self._constructions(target.owner)
        yield from self._function(found, target.owner)

    def _function(self, found: Function, owner: Class | None) -> Iterator[Signature]:
        name = f"{import_name(self.code, owner, owner.name)}.{found.node.name}" if owner is not None else ""
        name = name or import_name(self.code, found, found.node.name)
        yield from self._signature(name, found, function_head(found.node, self.wanted))

    def _constructions(self, found: Class) -> Iterator[Signature]:
        """How an object is made; where arguments are handed on, also how the base is made."""
        bases = ", ".join(ast.unparse(base) for base in found.node.bases)
        kind = f"class {found.name}({bases})" if bases else f"class {found.name}"
        made = [one for one in found.chain if _own_init(one) is not None or one.is_dataclass]
        if not made:
            yield from self._signature(import_name(self.code, found, found.name), found, kind)
        for one in made:
            init = _own_init(one)
            taken = parameters(init.args, self.wanted, bound=True) if init is not None else fields(one.node)
            text = f"{kind}; {found.name}({taken})" if one is made[0] else f"{one.name}({taken})"
            maker = found if one is made[0] else one
            yield from self._signature(import_name(self.code, maker, maker.name), one, text)
            if init is None or init.args.kwarg is None:
                return

    def _signature(self, name: str, found: Class | Function, text: str) -> Iterator[Signature]:
        place = self.code.place(found)
        if place is not None:
            doc = (ast.get_docstring(found.node) or "").strip().partition("\n")[0][:160]
            yield Signature(name, place[0], found.node.lineno, text, doc)


def import_name(code: CodeIndex, found: Class | Function, name: str) -> str:
    """The dotted name by which users reach a definition: packages re-export, and hide where things lie."""
    parts = found.module.split(".")
    above = [".".join(parts[:size]) for size in range(1, len(parts))]
    chunks, _ = code.postings.of(name.strip("_").lower())
    paths = {code.path(number) for number in chunks[:MOST_PACKAGES].tolist()}
    packages = [code.files.module_names[path] for path in sorted(paths) if path.name == "__init__.py"]
    there = [package for package in (*above, *packages) if _exports(code, package, found, name)]
    return f"{min([*there, found.module], key=_publicity)}.{name}"


def _exports(code: CodeIndex, package: str, found: Class | Function, name: str) -> bool:
    module = code.project.module(package)
    there = code.project.member(module, name) if module is not None else None
    if not isinstance(there, Class | Function):
        return False
    return there.module == found.module and there.node.lineno == found.node.lineno


def _publicity(module: str) -> tuple[bool, int, str]:
    parts = module.split(".")
    return any(part in PRIVATE or part.startswith("_") for part in parts), len(parts), module


def _own_init(found: Class) -> ast.FunctionDef | None:
    inits = (one for one in found.node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__")
    return next(inits, None)
