"""Definitions that a report means, those that chosen code rests on, and how they are imported
and called.
"""

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from reenact.bug.codebase import Class, Found, Function, Module, methods_of
from reenact.bug.context.chunk import Chunk, is_aside
from reenact.bug.context.clues import Clues
from reenact.bug.context.context import Signature
from reenact.bug.context.index import CodeIndex
from reenact.bug.context.rank import Ranked
from reenact.codegen.syntax import FunctionNode, dotted_name

MOST_NAMES = 80
"""Called names of one chunk that are followed."""
MOST_EXPORTED = 30
"""Public entry points that are shown whatever the report says."""
MOST_TARGETS = 12
LONGEST = 450
"""Characters of a list of parameters; of a longer one the middle is left out."""
MOST_METHODS = 5
"""Public methods of a class that are shown: those that the report names, then its own."""
MOST_PACKAGES = 400
"""Chunks that hold a name and are asked whether they export it."""
PRIVATE = ("src", "internal", "_internal", "impl", "api", "tests", "testing")
"""Parts of a module's name by which a user does not import."""


Target: TypeAlias = tuple[Class | Function, Class | None]
"""A definition whose surface is wanted, of a method with its class."""


def dependencies(code: CodeIndex, chunk: Chunk) -> Mapping[Chunk, str]:
    """Chunks of the definitions that a chunk names, bases first, and why each is one."""
    module = code.project.module(code.files.module_names.get(chunk.path, ""))
    if module is None:
        return {}
    found: dict[Chunk, str] = {}
    for definition, why in _named_by(
        code.nodes(chunk), class_around(code, chunk, module), module, code
    ):
        if (place := code.place(definition)) is not None:
            found.setdefault(place, why)
        # What makes an object of a class: its own `__init__`, or the one it inherits.
        init = None
        if isinstance(definition, Class):
            init = definition.methods.get("__init__")
        if init is not None and (place := code.place(init)) is not None:
            found.setdefault(place, f"constructor of {definition.node.name}")
    found.pop(chunk, None)
    return found


def class_around(code: CodeIndex, chunk: Chunk, module: Module) -> Class | None:
    """The class that a chunk lies in, or is."""
    body: list[ast.stmt] = getattr(code.files.tree(chunk.path), "body", [])
    inner: Class | None = None
    for part in chunk.name.split("."):
        step = next(
            (one for one in body if isinstance(one, ast.ClassDef) and one.name == part),
            None,
        )
        if step is None:
            break
        inner = Class(step, module.name, code.project)
        body = step.body
    return inner


def _named_by(
    nodes: list[ast.AST], owner: Class | None, module: Module, code: CodeIndex
) -> Iterator[tuple[Class | Function, str]]:
    """Bases of the classes, then what is called."""
    classes = [
        Class(node, module.name, code.project) for node in nodes if isinstance(node, ast.ClassDef)
    ]
    for one in classes or ([owner] if owner is not None else []):
        yield from ((base, f"base class of {one.name}") for base in one.chain[1:])
    called = [node.func for node in nodes if isinstance(node, ast.Call)]
    called += [
        mark for node in nodes if isinstance(node, ast.FunctionDef) for mark in node.decorator_list
    ]
    for name in list(dict.fromkeys(map(dotted_name, called)))[:MOST_NAMES]:
        first, _, rest = name.partition(".")
        if first in ("self", "cls", "super()"):
            chain = owner.chain if owner is not None else ()
            if first == "super()":
                chain = chain[1:]
            found: Found | None = methods_of(chain).get(rest)
        else:
            found = _resolved(name, module, code)
        if isinstance(found, Function | Class):
            yield found, f"called as {name}"


def _resolved(name: str, module: Module, code: CodeIndex) -> Found | None:
    found: Found = module
    for part in name.split("."):
        if isinstance(found, Class):
            return found.methods.get(part, found)
        if not isinstance(found, Module):
            return None
        found = code.project.member(found, part)
    return found


def imported_definitions(code: CodeIndex, clues: Clues) -> Iterator[tuple[str, Class | Function]]:
    """Dotted names of the report that lead to a definition of the project."""
    names = dict.fromkeys(clues.imported.values())
    for dotted in clues.dotted:
        first, _, rest = dotted.partition(".")
        names[f"{clues.imported.get(first, first)}.{rest}"] = None
    for name in names:
        found = code.project.find(name)
        if isinstance(found, Class | Function):
            yield name, found


def exact_chunks(code: CodeIndex, clues: Clues) -> Mapping[Chunk, str]:
    """Chunks of imported definitions, and of the methods of imported classes that the report
    names.
    """
    found: dict[Chunk, str] = {}
    for name, one in imported_definitions(code, clues):
        if (place := code.place(one)) is not None:
            found.setdefault(place, name)
        methods = one.methods if isinstance(one, Class) else {}
        for method in sorted(methods.keys() & clues.names.keys()):
            if not method.startswith("__") and (place := code.place(methods[method])) is not None:
                found.setdefault(place, f"{name}, which has {method}")
    return found


def mentioned(
    code: CodeIndex,
    clues: Clues,
    ranked: tuple[Ranked, ...],
) -> tuple[Target, ...]:
    """Targets for the public surface: imports first, then what the report points at, best first."""
    targets: list[Target] = [(found, None) for _, found in imported_definitions(code, clues)]
    for one in ranked:
        if one.pointed and not one.chunk.is_aside:
            targets += targets_of(code, one.chunk)
    return tuple(targets[:MOST_TARGETS])


def exported(code: CodeIndex) -> tuple[list[Target], tuple[str, ...]]:
    """What the project's packages export at their top, its public entry points; and their dotted
    names, modules too.
    """
    packages = {
        name: path for name, path in code.files.modules.items() if path.name == "__init__.py"
    }
    tops = sorted(name for name, path in packages.items() if "." not in name and not is_aside(path))
    found: list[tuple[str, Found]] = []
    for module in filter(None, map(code.project.module, tops)):
        public = (name for name in module.names if not name.startswith("_"))
        found += [
            (
                f"{module.name}.{name}",
                code.project.member(module, name),
            )
            for name in public
        ]
    names = dict.fromkeys(name for name, one in found if isinstance(one, Class | Function | Module))
    targets: list[Target] = [(one, None) for _, one in found if isinstance(one, Class | Function)]
    return targets[:MOST_EXPORTED], tuple(names)[:MOST_EXPORTED]


def targets_of(code: CodeIndex, chunk: Chunk) -> Iterator[Target]:
    """The definition of a chunk, when a user could call it: a method with its class."""
    module = code.project.module(code.files.module_names.get(chunk.path, ""))
    private = any(part.startswith("_") and part != "__init__" for part in chunk.name.split("."))
    if module is None or not chunk.name or private:
        return
    first, _, rest = chunk.name.partition(".")
    thing = module.names.get(first)
    if not rest and isinstance(thing, Class | Function):
        yield thing, None
    elif isinstance(thing, Class) and (owner := class_around(code, chunk, module)) is not None:
        method = owner.methods.get(rest.rpartition(".")[2])
        yield (method, owner) if method is not None else (owner, None)


def spoken_names(code: CodeIndex, clues: Clues) -> Mapping[tuple[str, int], str]:
    """The dotted name by which the report itself imports a definition, by where that is."""
    found: dict[tuple[str, int], str] = {}
    for name, one in imported_definitions(code, clues):
        # A name of a variable in front is not a module.
        if name.partition(".")[0] in code.files.packages:
            found.setdefault((one.module, one.node.lineno), name)
    return found


def signatures(
    code: CodeIndex,
    targets: Iterable[Target],
    wanted: Collection[str],
    spoken: Mapping[tuple[str, int], str] | None = None,
) -> tuple[Signature, ...]:
    """Signatures of the targets in their order, each once; `wanted` are names of the report,
    `spoken` the paths by which it imports.
    """
    surface = _Surface(code, wanted, spoken or {})
    found: dict[tuple[str, str], Signature] = {}
    for one in (one for target in targets for one in surface.of(target)):
        found.setdefault((one.name, one.text), one)
    return tuple(found.values())


@dataclass(frozen=True)
class _Surface:
    """What can be imported and called, with the parameters that matter."""

    code: CodeIndex
    wanted: Collection[str]
    spoken: Mapping[tuple[str, int], str]

    def name(self, found: Class | Function) -> str:
        """By which users reach it: as the report does, else as the packages export it."""
        said = self.spoken.get((found.module, found.node.lineno))
        return said or import_name(self.code, found)

    def of(self, target: Target) -> Iterator[Signature]:
        found, owner = target
        if isinstance(found, Class):
            yield from self._constructions(found)
            public = [one for one in found.methods.values() if not one.node.name.startswith("_")]
            named = [one for one in public if one.node.name in self.wanted]
            own = [one for one in public if one not in named and one.node in found.node.body]
            for one in (
                *named,
                *own[: max(0, MOST_METHODS - len(named))],
            ):
                yield from self._function(one, found)
            return
        if owner is not None:
            yield from self._constructions(owner)
        yield from self._function(found, owner)

    def _function(self, found: Function, owner: Class | None) -> Iterator[Signature]:
        name = self.name(owner or found)
        if owner:
            name = f"{name}.{found.node.name}"
        yield from self._signature(
            name,
            found,
            function_head(found.node, self.wanted),
        )

    def _constructions(self, found: Class) -> Iterator[Signature]:
        """How an object is made; where arguments are handed on, also how the base is made."""
        bases = ", ".join(ast.unparse(base) for base in found.node.bases)
        kind = f"class {found.name}({bases})" if bases else f"class {found.name}"
        own = [
            (
                one,
                methods_of([one]).get("__init__"),
            )
            for one in found.chain
        ]
        made = [
            (one, init.node.args if init else None) for one, init in own if init or one.is_dataclass
        ]
        if not made:
            yield from self._signature(
                self.name(found),
                found,
                kind,
            )
        for number, (one, given) in enumerate(made):
            taken = ", ".join(
                ast.unparse(line) for line in one.node.body if isinstance(line, ast.AnnAssign)
            )
            if given is not None:
                taken = parameters(given, self.wanted, bound=True)
            text = f"{one.name}({taken})" if number else f"{kind}; {found.name}({taken})"
            yield from self._signature(
                self.name(one if number else found),
                one,
                text,
            )
            if given is None or given.kwarg is None:
                return

    def _signature(
        self,
        name: str,
        found: Class | Function,
        text: str,
    ) -> Iterator[Signature]:
        if self.code.place(found) is not None:
            doc = (ast.get_docstring(found.node) or "").strip().partition("\n")[0][:160]
            yield Signature(name, text, doc)


def import_name(code: CodeIndex, found: Class | Function) -> str:
    """The dotted name by which users reach a definition: packages re-export, and hide where
    things lie.
    """
    parts = found.module.split(".")
    name = found.node.name
    place = (found.module, found.node.lineno)

    def exports(package: str) -> bool:
        module = code.project.module(package)
        there = None
        if module is not None:
            there = code.project.member(module, name)
        return isinstance(there, Class | Function) and (there.module, there.node.lineno) == place

    def publicity(module: str) -> tuple[bool, int, str]:
        parts = module.split(".")
        return (
            any(part in PRIVATE or part.startswith("_") for part in parts),
            len(parts),
            module,
        )

    above = [".".join(parts[:size]) for size in range(1, len(parts))]
    paths = {chunk.path for chunk in code.holding(name.strip("_").lower())[:MOST_PACKAGES]}
    packages = [
        code.files.module_names[path] for path in sorted(paths) if path.name == "__init__.py"
    ]
    best = min([*filter(exports, (*above, *packages)), found.module], key=publicity)
    return _without_private(code, f"{best}.{name}", place)


def _without_private(code: CodeIndex, name: str, place: tuple[str, int]) -> str:
    """The name without the folders that users do not write (`keras.api.ops.add`), where that leads
    to the same definition.
    """
    parts = name.split(".")
    public = ".".join(
        part
        for number, part in enumerate(parts)
        if not 0 < number < len(parts) - 1 or part not in PRIVATE
    )
    if public == name:
        return name
    found = code.project.find(public)
    is_same = isinstance(found, Class | Function) and (found.module, found.node.lineno) == place
    return public if is_same else name


def function_head(node: FunctionNode, wanted: Collection[str]) -> str:
    """`def fit(self, x, epochs=1) -> Net`, with the decorators that change how it is called."""
    marks = [ast.unparse(mark) for mark in node.decorator_list]
    known = "".join(
        f"@{mark} " for mark in marks if mark in ("staticmethod", "classmethod", "property")
    )
    gives = ""
    if node.returns is not None:
        gives = f" -> {ast.unparse(node.returns)}"
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    return f"{known}{word} {node.name}({parameters(node.args, wanted)}){gives}"


def parameters(
    taken: ast.arguments,
    wanted: Collection[str],
    *,
    bound: bool = False,
) -> str:
    """Parameters with annotations and defaults; without `self` for one that is bound."""
    listed = list(_listed(taken, wanted))[1 if bound else 0 :]
    space = LONGEST - sum(len(text) + 2 for text, needed in listed if needed)
    shown: list[str] = []
    for text, needed in listed:
        space -= 0 if needed else len(text) + 2
        if needed or space > 0:
            shown.append(text)
        elif shown[-1:] != ["..."]:
            shown.append("...")
    return ", ".join(shown)


def _listed(
    taken: ast.arguments,
    wanted: Collection[str],
) -> Iterator[tuple[str, bool]]:
    """Each parameter as it is written, and whether it is shown however long the list is."""
    positional = [*taken.posonlyargs, *taken.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(taken.defaults))
    for number, (one, default) in enumerate(
        zip(positional, [*defaults, *taken.defaults], strict=True), 1
    ):
        yield _parameter(one, default, wanted)
        if number == len(taken.posonlyargs):
            yield "/", True
    if taken.vararg is not None:
        yield f"*{ast.unparse(taken.vararg)}", True
    elif taken.kwonlyargs:
        yield "*", True
    for one, default in zip(taken.kwonlyargs, taken.kw_defaults, strict=True):
        yield _parameter(one, default, wanted)
    if taken.kwarg is not None:
        yield f"**{ast.unparse(taken.kwarg)}", True


def _parameter(
    one: ast.arg,
    default: ast.expr | None,
    wanted: Collection[str],
) -> tuple[str, bool]:
    text = ast.unparse(one)
    if default is not None:
        text += f"{' = ' if one.annotation else '='}{ast.unparse(default)}"
    return text if len(text) <= 80 else f"{text[:77]}...", default is None or one.arg in wanted
