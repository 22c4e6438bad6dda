"""All files of a program together: modules by name, who calls whom, what a name means."""

import ast
import builtins
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Generic, TypeAlias, TypeVar

from reenact.program.flow.library_names import canonical
from reenact.program.program import CODE, Program
from reenact.program.syntax.calls import entries, super_name
from reenact.program.syntax.index import index_of
from reenact.program.syntax.scope import (
    Binding,
    FileIndex,
    Scope,
    Store,
    bindings_of,
    put_in,
    scope_of,
)
from reenact.program.syntax.targets import How

MAX_DEPTH = 24
Answer = TypeVar("Answer")


class Once(Generic[Answer]):
    """Answers that are looked up once; what leads back to itself, or too far, has none."""

    def __init__(self, none: Answer) -> None:
        self._none = none
        self._known: dict[object, Answer] = {}
        self._depth = 0

    def __call__(self, key: object, find: Callable[[], Answer]) -> Answer:
        if key not in self._known:
            self._known[key] = self._none
            self._depth += 1
            if self._depth <= MAX_DEPTH:
                self._known[key] = find()
            self._depth -= 1
        return self._known[key]


@dataclass(frozen=True, slots=True)
class Instance:
    """An object of one of the program's own classes."""

    owner: Scope


Meaning: TypeAlias = "str | Scope | Instance | FileIndex | None"
"""A library object by its canonical dotted name, a class or function of the program, an object of
such a class, one of its files, or unknown.
"""

SAME_OBJECT = frozenset(
    (
        "to",
        "cuda",
        "cpu",
        "double",
        "float",
        "half",
        "train",
        "eval",
    )
)
"""Methods that hand back the object they were called on."""


class Sources:
    """The indexed files of one program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        found = [index_of(file) for file in program.files if file.language in CODE]
        self.indexes = {index.path: index for index in found if isinstance(index, FileIndex)}
        self._once: Once[Meaning] = Once(None)

    def calls(self) -> Iterator[ast.Call]:
        for index in self.indexes.values():
            yield from index.calls

    def module(
        self,
        dotted: str,
        file: str,
        level: int = 0,
    ) -> FileIndex | None:
        """A module of the program by its dotted name, as imported from a file."""
        tops = self.program.bases
        if level:
            above = PurePosixPath(file).parents
            tops = (above[min(level, len(above)) - 1],)
        parts = [part for part in dotted.split(".") if part]
        for top in tops:
            stem = top.joinpath(*parts)
            for name in (f"{stem}.py", str(stem / "__init__.py")):
                if name in self.indexes:
                    return self.indexes[name]
        return None

    def meaning(self, node: ast.AST) -> Meaning:
        """What an expression names."""
        return self._once(node, lambda: self._meaning(node))

    def dotted(self, node: ast.AST) -> str:
        """Canonical name of a library object, or empty."""
        found = self.meaning(node)
        return found if isinstance(found, str) else ""

    def _meaning(self, node: ast.AST) -> Meaning:
        if isinstance(node, ast.Name):
            return self._name(node.id, scope_of(node))
        if isinstance(node, ast.Attribute):
            return self._attribute(self.meaning(node.value), node.attr)
        if isinstance(node, ast.Subscript):
            # `TABLE["name"]`, where the table is written out.
            key = node.slice.value if isinstance(node.slice, ast.Constant) else None
            found = self.table(node.value).get(key)
            if found is not None:
                return self.meaning(found)
            return None
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr in SAME_OBJECT:
                return self.meaning(node.func.value)
            made = self.meaning(node.func)
            if isinstance(made, Scope) and made.is_class:
                return Instance(made)
            return None
        return None

    def table(self, node: ast.expr) -> dict[object, ast.expr]:
        """The entries of a dictionary that a name is bound to once."""
        found = bindings_of(node)
        return entries(found[0].value) if len(found) == 1 else {}

    def owner(self, node: ast.AST) -> Scope | None:
        """The class of the program that an expression is, or whose instance it is."""
        found = self.meaning(node)
        if isinstance(found, Instance):
            return found.owner
        if isinstance(found, Scope) and found.is_class:
            return found
        return None

    def _attribute(self, base: Meaning, name: str) -> Meaning:
        if isinstance(base, str):
            return canonical(f"{base}.{name}")
        if isinstance(base, FileIndex):
            return self._name(name, base.module)
        if isinstance(base, Instance):
            # What `self.name` holds, when it is stored once.
            stores = self.stores(base.owner, name)
            once = len(stores) == 1 and not stores[0].pick
            return self.method(base.owner, name) or (
                self.meaning(stores[0].value) if once else None
            )
        if isinstance(base, Scope) and base.is_class:
            return self.method(base, name)
        return None

    def stores(self, owner: Scope, name: str) -> list[Store]:
        """Assignments to `self.name` in the methods of a class."""
        own = [store for store in owner.index.stores.get(name, ()) if store.base == "self"]
        return [store for store in own if scope_of(store.node).enclosing_class() is owner]

    def lineage(self, owner: Scope) -> list[Scope]:
        """A class and those of the program that it derives from, nearest first."""
        found = [owner]
        for one in found:
            bases = [base for base in self.bases(one) if isinstance(base, Scope) and base.is_class]
            found += [base for base in bases if base not in found]
        return found

    def method(self, owner: Scope, name: str) -> Scope | None:
        """A method (or nested class) of a class of the program, also inherited."""
        return next(
            filter(
                None,
                (self.own_method(one, name) for one in self.lineage(owner)),
            ),
            None,
        )

    def own_method(self, owner: Scope, name: str) -> Scope | None:
        """A method (or nested class) that a class defines itself."""
        found = [
            one for one in owner.bindings.get(name, ()) if one.how in (How.FUNCTION, How.CLASS)
        ]
        return owner.index.inner[found[0].node] if found else None

    def bases(self, owner: Scope) -> list[Meaning]:
        assert isinstance(owner.node, ast.ClassDef)
        return [self.meaning(base) for base in owner.node.bases]

    def inherits(self, owner: Scope, names: frozenset[str]) -> bool:
        """True when a class derives, perhaps through others, from one of these library classes."""
        for one in self.lineage(owner):
            if any(isinstance(base, str) and base in names for base in self.bases(one)):
                return True
        return False

    def _name(self, name: str, scope: Scope) -> Meaning:
        bindings = scope.find(name)
        own = [binding for binding in bindings if not binding.rewraps] or bindings
        if own:
            return self._bound(own[-1])
        return self._unbound(name, scope)

    def _bound(self, binding: Binding) -> Meaning:
        holder = binding.holder
        value = binding.value
        if binding.how is How.IMPORT:
            return self._once(binding, lambda: self._imported(binding))
        if binding.how in (How.FUNCTION, How.CLASS):
            return holder.index.inner[binding.node]
        if binding.how is How.PARAMETER and isinstance(
            holder.node, ast.FunctionDef | ast.AsyncFunctionDef
        ):
            # The first parameter of a method is an object of its class.
            first = [
                *holder.node.args.posonlyargs,
                *holder.node.args.args,
            ][:1]
            method = holder.parent is not None and holder.parent.is_class and binding.node in first
            if holder.parent is not None and method:
                return Instance(holder.parent)
            return None
        followed = isinstance(value, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
        if value is None or binding.how is not How.ASSIGN or binding.pick or not followed:
            return None
        return self.meaning(value)

    def imported(self, binding: Binding) -> tuple[FileIndex | None, str]:
        """The module of the program that an import names, or the one it takes a name from and
        that name.
        """
        file = binding.holder.file
        level = binding.level
        parent, _, name = binding.dotted.rpartition(".")
        whole = self.module(binding.dotted, file, level)
        if whole is not None:
            return whole, ""
        if not parent and not level:
            return None, name
        return self.module(parent, file, level), name

    def _imported(self, binding: Binding) -> Meaning:
        module, name = self.imported(binding)
        if module is not None:
            if name:
                return self._name(name, module.module)
            return module
        if binding.level:
            return None
        return canonical(binding.dotted)

    def _unbound(self, name: str, scope: Scope) -> Meaning:
        if hasattr(builtins, name):
            return f"builtins.{name}"
        for star in reversed(scope.index.module.stars):
            inside = self.module(star.dotted, scope.file, star.level)
            if inside is None and not star.level:
                return canonical(f"{star.dotted}.{name}")
            if inside is not None and name in inside.module.bindings:
                return self._name(name, inside.module)
        return None

    @cached_property
    def sites(self) -> dict[Scope, list[ast.Call]]:
        """Calls of each function and class of the program; a class's calls count for its
        `__init__` too.
        """
        found: dict[Scope, list[ast.Call]] = {}
        for call in self.calls():
            for target, whole in self._targets(call):
                start = self.method(target, "__init__") if target.is_class else None
                for one in filter(None, (target, start)):
                    found.setdefault(one, []).append(whole)
        return found

    def _targets(self, call: ast.Call) -> list[tuple[Scope, ast.Call]]:
        """The functions and classes of the program that a call may reach, with the arguments
        they get.
        """
        target = self.meaning(call.func) or self._super_init(call)
        if isinstance(target, Scope):
            return [(target, call)]
        # `functools.partial(build, rate=0.1)`, written here or under a name.
        found = bindings_of(call.func)
        made = found[0].value if len(found) == 1 else call.func
        if (
            isinstance(made, ast.Call)
            and made.args
            and self.dotted(made.func) == "functools.partial"
        ):
            whole = self.meaning(made.args[0])
            if not isinstance(whole, Scope):
                return []
            return [(whole, _joined(made, call))]
        table = self.table(call.func.value) if isinstance(call.func, ast.Subscript) else {}
        return [
            (item, call) for item in map(self.meaning, table.values()) if isinstance(item, Scope)
        ]

    def _super_init(self, call: ast.Call) -> Scope | None:
        name = super_name(call)
        owner = scope_of(call).enclosing_class()
        bases = self.bases(owner) if owner is not None and name else []
        own = [one for one in bases if isinstance(one, Scope)]
        return self.method(own[0], name) if own else None


def _joined(partial: ast.Call, call: ast.Call) -> ast.Call:
    """The call that a partial application and its own call amount to."""
    given = {part.arg for part in call.keywords}
    keywords = [
        *call.keywords,
        *(part for part in partial.keywords if part.arg not in given),
    ]
    whole = ast.copy_location(
        ast.Call(
            call.func,
            [*partial.args[1:], *call.args],
            keywords,
        ),
        call,
    )
    # It is where its second half does.
    put_in(whole, scope_of(call))
    parents = scope_of(call).index.parents
    parents[whole] = parents[call]
    return whole
