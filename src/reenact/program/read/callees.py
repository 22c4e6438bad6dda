"""Which library class a call makes, however its name gets there: directly, by getattr, from a table, as a
parameter."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from reenact.program.hyperparameter import Written
from reenact.program.read.ends import End
from reenact.program.read.follow import Follower
from reenact.program.read.functions import returned_values
from reenact.program.read.names import canonical, last_name
from reenact.program.read.scope import Scope
from reenact.program.read.sources import MAX_DEPTH, SAME_OBJECT


@dataclass(frozen=True, slots=True, eq=False)
class Callee:
    """A library object that a call may reach."""

    dotted: str
    end: End
    """Where the name is written: the dotted name itself, or the string that chooses it."""
    chosen: bool = False
    """True when a string chooses it: `getattr(nn, name)` or `TABLE[name]`."""
    choices: tuple[str, ...] = ()
    """What else the table offers."""


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """A library call that makes an object, found through the program's own small functions too."""

    callee: Callee
    call: ast.Call
    scope: Scope


class Callees:
    """Looks up what calls reach."""

    def __init__(self, follower: Follower) -> None:
        self.follower = follower
        self.sources = follower.sources
        self._cache: dict[ast.AST, list[Callee]] = {}

    def of(self, call: ast.Call, scope: Scope) -> list[Callee]:
        """All library objects that this call may call."""
        if call not in self._cache:
            self._cache[call] = []
            self._cache[call] = self._names(call.func, scope, Written.LITERAL, 0)
        return self._cache[call]

    def named(self, node: ast.expr, scope: Scope) -> list[Callee]:
        """All library objects that an expression may name, called or not."""
        return self._names(node, scope, Written.LITERAL, 0)

    def dotted(self, call: ast.Call, scope: Scope) -> str:
        """The only library object it calls, or empty."""
        found = self.of(call, scope)
        return found[0].dotted if len(found) == 1 else ""

    def made(self, node: ast.expr, scope: Scope, depth: int = 0) -> list[Made]:
        """The library calls that make the object an expression stands for."""
        found: list[Made] = []
        for end in self.follower.follow(node, scope):
            if not isinstance(end.node, ast.Call):
                continue
            if (
                isinstance(end.node.func, ast.Attribute)
                and end.node.func.attr in SAME_OBJECT
                and depth < MAX_DEPTH
            ):
                found += self.made(end.node.func.value, end.scope, depth + 1)
                continue
            callees = self.of(end.node, end.scope)
            found += [Made(callee, end.node, end.scope) for callee in callees]
            target = self.sources.meaning(end.node.func, end.scope)
            if not callees and isinstance(target, Scope) and target.is_function and depth < MAX_DEPTH:
                for value in returned_values(target, self.sources):
                    found += self.made(value, target, depth + 1)
        return found

    def _names(self, node: ast.AST, scope: Scope, written: Written, depth: int) -> list[Callee]:
        direct = self.sources.dotted(node, scope) if isinstance(node, ast.Name | ast.Attribute) else ""
        if direct:
            return [Callee(direct, End(node, scope, written))]
        if depth > MAX_DEPTH:
            return []
        if isinstance(node, ast.Subscript):
            return self._table(node, scope)
        if isinstance(node, ast.Call):
            return self._chosen(node, scope, depth)
        if not isinstance(node, ast.Name | ast.Attribute):
            return []
        found: list[Callee] = []
        for end in self.follower.follow(node, scope):
            if end.node is not node:
                found += self._names(end.node, end.scope, end.written, depth + 1)
        return found

    def _chosen(self, node: ast.Call, scope: Scope, depth: int) -> list[Callee]:
        """`getattr(torch.optim, name)`, `functools.partial(nn.LeakyReLU, 0.1)`."""
        dotted = self.sources.dotted(node.func, scope)
        if dotted == "functools.partial" and node.args:
            return self._names(node.args[0], scope, Written.LITERAL, depth + 1)
        if dotted != "builtins.getattr" or len(node.args) < 2:
            return []
        base = self.sources.dotted(node.args[0], scope)
        ends = self.follower.follow(node.args[1], scope) if base else []
        return [
            Callee(canonical(f"{base}.{_chosen_word(end)}"), end, True) for end in ends if _chosen_word(end)
        ]

    def _table(self, node: ast.Subscript, scope: Scope) -> list[Callee]:
        """`ACTIVATIONS[args.act]`, where the table is a dictionary of the program."""
        tables = [end for end in self.follower.follow(node.value, scope) if isinstance(end.node, ast.Dict)]
        if len(tables) != 1:
            return []
        table = tables[0].node
        assert isinstance(table, ast.Dict)
        entries = {
            key.value: value
            for key, value in zip(table.keys, table.values, strict=True)
            if isinstance(key, ast.Constant) and isinstance(key.value, str)
        }
        found = []
        for end in self.follower.follow(node.slice, scope):
            value = entries.get(_chosen_word(end))
            dotted = self.sources.dotted(value, tables[0].scope) if value is not None else ""
            if dotted:
                found.append(Callee(dotted, end, True, tuple(entries)))
        return found


def _chosen_word(end: End) -> str:
    value = end.given.value if end.given is not None else end.literal()
    return value if isinstance(value, str) else ""


def chosen_name(callee: Callee) -> str:
    """The class name, or the word that chose it."""
    if not callee.chosen:
        return last_name(callee.dotted)
    value = callee.end.given.value if callee.end.given is not None else callee.end.literal()
    return str(value)
