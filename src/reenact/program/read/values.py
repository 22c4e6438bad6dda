"""From an argument to the value in force and the place where it is written."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace

from reenact.program.hyperparameter import Written
from reenact.program.read.ends import NOT_LITERAL, End, Spot, is_number, literal
from reenact.program.read.follow import Follower
from reenact.program.read.scope import Scope
from reenact.types import JsonValue

OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
    ast.Mod: operator.mod,
}
MAX_NUMBER = 1e18
MAX_DEPTH = 12


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """One value of one argument: what it is and where it stands."""

    end: End
    use: ast.expr
    use_scope: Scope
    value: JsonValue
    """The value in force: the literal, the command line's word, or the source text."""
    text: str
    spot: Spot
    is_literal: bool
    computed: JsonValue = None
    """What an expression comes to, where that can be told without running it."""
    scale: float = 1.0
    """The value in force is this many times the written one: `rate = (lr := 0.004) * 2`."""

    @property
    def default(self) -> JsonValue:
        """What stands in the source when the command line says otherwise."""
        found = self.end.literal()
        return None if found is NOT_LITERAL else found  # type: ignore[return-value]


class Values:
    """Looks up arguments."""

    def __init__(self, follower: Follower) -> None:
        self.follower = follower
        self.sources = follower.sources

    def find(self, use: ast.expr, scope: Scope, *, names_too: bool = False) -> list[Found]:
        """Every place that feeds an argument; `names_too` keeps trails that end in a name or a call."""
        found = [self._found(end, use, scope, names_too) for end in self.follower.follow(use, scope)]
        distinct: dict[Spot, Found] = {}
        for item in found:
            distinct.setdefault(item.spot, item)
        return list(distinct.values())

    def here(self, use: ast.expr, scope: Scope) -> Found:
        """The argument itself, wherever its value comes from."""
        return self._made(End(use, scope, Written.LITERAL), use, scope)

    def found(self, end: End, use: ast.expr, scope: Scope) -> Found:
        """An end that was reached another way."""
        return self._made(end, use, scope)

    def _found(self, end: End, use: ast.expr, scope: Scope, names_too: bool) -> Found:
        if end.literal() is not NOT_LITERAL or end.option is not None or names_too:
            return self._made(end, use, scope)
        if isinstance(end.node, ast.expr):
            if self.compute(end.node, end.scope) is not None:
                return self._scaled(end, use, scope) or self._made(end, use, scope)
            part = self._only_known_part(end.node, end.scope)
            if part is not None:
                return self._made(part, use, scope)
        return self._made(End(use, scope, Written.LITERAL), use, scope)

    def _scaled(self, end: End, use: ast.expr, scope: Scope) -> Found | None:
        """A number that is named in the middle of a product: only the number may be replaced, not the
        name."""
        named = [part for part in ast.walk(end.node) if isinstance(part, ast.NamedExpr)]
        whole = self.compute(end.node, end.scope)
        number = literal(named[0].value) if len(named) == 1 else None
        if not is_number(number) or not number or whole is None or not _is_product(end.node):
            return None
        inner = self._made(End(named[0].value, end.scope, Written.CONSTANT), use, scope)
        return replace(inner, value=whole, scale=whole / number)  # type: ignore[operator]

    def _made(self, end: End, use: ast.expr, scope: Scope) -> Found:
        spot = self.spot(end)
        text = self.text(end, spot)
        value = end.literal()
        known = value is not NOT_LITERAL
        if known and isinstance(value, str) and _quoted_number(end):
            value = _as_number(value)
        computed = None if known or not isinstance(end.node, ast.expr) else self.compute(end.node, end.scope)
        in_force: JsonValue = value if known else text  # type: ignore[assignment]
        if end.given is not None:
            in_force, known = end.given.value, True
        return Found(end, use, scope, in_force, text, spot, known, computed)

    def spot(self, end: End) -> Spot:
        if end.entry is not None:
            return Spot(end.data_file, end.entry.span)
        index = self.sources.index(end.scope)
        node = end.node
        assert isinstance(node, ast.expr | ast.stmt)
        return Spot(end.scope.file, index.span(node))

    def text(self, end: End, spot: Spot) -> str:
        if end.entry is not None:
            file = self.sources.program.file(spot.file)
            return "" if file is None else file.text[spot.span.start : spot.span.end]
        return self.sources.index(end.scope).text[spot.span.start : spot.span.end]

    def compute(self, node: ast.AST, scope: Scope, depth: int = 0) -> int | float | None:
        """The number an arithmetic expression comes to, or none."""
        value = literal(node)
        if is_number(value):
            return value  # type: ignore[return-value]
        if depth > MAX_DEPTH:
            return None
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            left, right = (
                self.compute(node.left, scope, depth + 1),
                self.compute(node.right, scope, depth + 1),
            )
            return None if left is None or right is None else _calculate(node.op, left, right)
        if isinstance(node, ast.NamedExpr):
            return self.compute(node.value, scope, depth + 1)
        if isinstance(node, ast.Call) and self.sources.dotted(node.func, scope) in (
            "builtins.int",
            "builtins.float",
        ):
            return self.compute(node.args[0], scope, depth + 1) if len(node.args) == 1 else None
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call):
            return self._compute_end(node, scope, depth)
        return None

    def _compute_end(self, node: ast.expr, scope: Scope, depth: int) -> int | float | None:
        end = self.follower.single(node, scope)
        if end is None:
            return None
        value = end.given.value if end.given is not None else end.literal()
        if is_number(value):
            return value  # type: ignore[return-value]
        return None if end.node is node else self.compute(end.node, end.scope, depth + 1)

    def _only_known_part(self, node: ast.expr, scope: Scope) -> End | None:
        """`GLOBAL_BATCH // world`: the one named number in an expression that cannot be computed."""
        if not isinstance(node, ast.BinOp):
            return None
        known = []
        for part in ast.walk(node):
            if isinstance(part, ast.Name | ast.Attribute) and isinstance(part.ctx, ast.Load):
                end = self.follower.single(part, scope)
                if end is not None and end.node is not part and is_number(end.literal()):
                    known.append(end)
        return known[0] if len(known) == 1 else None


def _is_product(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)


def _calculate(op: ast.operator, left: float, right: float) -> int | float | None:
    if isinstance(op, ast.Pow) and (abs(right) > 64 or abs(left) > 1e6):
        return None
    try:
        value = OPERATORS[type(op)](left, right)
    except (ArithmeticError, ValueError):
        return None
    return value if isinstance(value, int | float) and abs(value) < MAX_NUMBER else None


def _quoted_number(end: End) -> bool:
    """`float(os.environ.get("LR", "0.1"))`: a number in quotes."""
    return end.entry is None and isinstance(end.node, ast.Constant) and _number_text(end.node.value)


def _number_text(value: object) -> bool:
    if not isinstance(value, str):
        return False
    try:
        float(value)
    except ValueError:
        return False
    return True


def _as_number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)
