"""From an argument to the value in force and the place where it is written; from a call to the
library class that it makes, however its name gets there: directly, by getattr, from a table, as a
parameter.
"""

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace

from reenact.program.flow.ends import (
    NOT_LITERAL,
    End,
    is_number,
    literal,
    number_of,
    spot_of,
)
from reenact.program.flow.follow import Follower
from reenact.program.flow.library_names import canonical, last_name
from reenact.program.flow.sources import SAME_OBJECT, Once
from reenact.program.hyperparameter import Written
from reenact.program.syntax.calls import entries
from reenact.program.syntax.scope import Scope, scope_of
from reenact.program.syntax.source import Span
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
NUMBERS = ("builtins.int", "builtins.float")
MAX_NUMBER = 1e18
MAX_DEPTH = 12


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """One value of one argument: what it is and where it is."""

    end: End
    use: ast.expr
    value: JsonValue
    """The value in force: the literal, the command line's word, or the source text."""
    text: str
    spot: Span
    is_literal: bool
    computed: JsonValue = None
    """What an expression comes to, where that can be determined without running it."""
    scale: float = 1.0
    """The value in force is this many times the written one: `rate = (lr := 0.004) * 2`."""


class Values:
    """Looks up arguments."""

    def __init__(self, follower: Follower) -> None:
        self.follower = follower
        self.sources = follower.sources
        self._depth = 0

    def find(self, use: ast.expr | None) -> list[Found]:
        """Every place that feeds an argument."""
        distinct: dict[Span, Found] = {}
        for item in (
            [self._found(end, use) for end in self.follower.follow(use)] if use is not None else ()
        ):
            distinct.setdefault(item.spot, item)
        return list(distinct.values())

    def here(self, use: ast.expr) -> Found:
        """The argument itself, wherever its value comes from."""
        return self.found(End(use, Written.LITERAL), use)

    def _found(self, end: End, use: ast.expr) -> Found:
        if end.literal() is not NOT_LITERAL or end.option is not None:
            return self.found(end, use)
        if isinstance(end.node, ast.expr):
            if self.compute(end.node) is not None:
                return self._scaled(end, use) or self.found(end, use)
            part = self._only_known_part(end.node)
            if part is not None:
                return self.found(part, use)
        return self.found(End(use, Written.LITERAL), use)

    def _scaled(self, end: End, use: ast.expr) -> Found | None:
        """A number that is named inside a product: only the number may be replaced, not the
        name.
        """
        named = [part for part in ast.walk(end.node) if isinstance(part, ast.NamedExpr)]
        whole = self.compute(end.node)
        number = literal(named[0].value) if len(named) == 1 else None
        product = isinstance(end.node, ast.BinOp) and isinstance(end.node.op, ast.Mult)
        if not is_number(number) or not number or whole is None or not product:
            return None
        inner = self.found(
            End(named[0].value, Written.CONSTANT),
            use,
        )
        return replace(inner, value=whole, scale=whole / number)  # type: ignore[operator]

    def found(self, end: End, use: ast.expr) -> Found:
        """An argument whose trail ends there."""
        spot = self.spot(end)
        text = self.text(end, spot)
        value = end.literal()
        known = value is not NOT_LITERAL
        if isinstance(value, str) and end.entry is None:
            # `float(os.environ.get("LR", "0.1"))`: a number in quotes.
            number = number_of(value)
            value = value if number is None else number
        computed = None
        if not known and isinstance(end.node, ast.expr):
            computed = self.compute(end.node)
        in_force: JsonValue = value if known else text  # type: ignore[assignment]
        if end.given is not None:
            in_force = end.given.value
            known = True
        return Found(end, use, in_force, text, spot, known, computed)

    def spot(self, end: End) -> Span:
        if end.entry is not None:
            return replace(end.entry.span, file=end.data_file)
        assert isinstance(end.node, ast.expr | ast.stmt)
        return spot_of(end.node)

    def text(self, end: End, spot: Span) -> str:
        if end.entry is not None:
            file = self.sources.program.file(spot.file)
            return "" if file is None else spot.cut(file.text)
        return spot.cut(scope_of(end.node).index.text)

    def compute(
        self,
        node: ast.AST | None,
    ) -> int | float | None:
        """The number an arithmetic expression comes to, or none."""
        self._depth += 1
        try:
            if node is not None and self._depth <= MAX_DEPTH:
                return self._computed(node)
            return None
        finally:
            self._depth -= 1

    def _computed(self, node: ast.AST) -> int | float | None:
        value = literal(node)
        if is_number(value):
            return value  # type: ignore[return-value]
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            left = self.compute(node.left)
            right = self.compute(node.right)
            if left is None or right is None:
                return None
            return _calculate(node.op, left, right)
        if isinstance(node, ast.NamedExpr):
            return self.compute(node.value)
        if isinstance(node, ast.Call) and self.sources.dotted(node.func) in NUMBERS:
            if len(node.args) == 1:
                return self.compute(node.args[0])
            return None
        named = isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
        end = self.follower.single(node) if named else None
        if end is not None and is_number(end.in_force):
            return end.in_force  # type: ignore[return-value]
        if end is None or end.node is node:
            return None
        return self.compute(end.node)

    def _only_known_part(self, node: ast.expr) -> End | None:
        """`GLOBAL_BATCH // world`: the one named number in an expression that cannot be
        computed.
        """
        if not isinstance(node, ast.BinOp):
            return None
        known: list[End] = []
        for part in ast.walk(node):
            if not isinstance(part, ast.Name | ast.Attribute) or not isinstance(part.ctx, ast.Load):
                continue
            end = self.follower.single(part)
            if end is not None and end.node is not part and is_number(end.literal()):
                known.append(end)
        return known[0] if len(known) == 1 else None


def _calculate(
    op: ast.operator,
    left: float,
    right: float,
) -> int | float | None:
    if isinstance(op, ast.Pow) and (abs(right) > 64 or abs(left) > 1e6):
        return None
    try:
        value = OPERATORS[type(op)](left, right)
    except (ArithmeticError, ValueError):
        return None
    if isinstance(value, int | float) and abs(value) < MAX_NUMBER:
        return value
    return None


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


class Callees:
    """Looks up what calls reach."""

    def __init__(self, follower: Follower) -> None:
        self.follower = follower
        self.sources = follower.sources
        self._named: Once[list[Callee]] = Once([])
        self._made: Once[list[Made]] = Once([])

    def of(self, call: ast.Call) -> list[Callee]:
        """All library objects that this call may call."""
        return self.named(call.func)

    def dotted(self, call: ast.Call) -> str:
        """The only library object it calls, or empty."""
        found = self.of(call)
        return found[0].dotted if len(found) == 1 else ""

    def named(
        self,
        node: ast.AST,
        written: Written = Written.LITERAL,
    ) -> list[Callee]:
        """All library objects that an expression may name, called or not."""
        key = node if written is Written.LITERAL else (node, written)
        return self._named(key, lambda: self._names(node, written))

    def made(self, node: ast.expr | None) -> list[Made]:
        """The library calls that make the object an expression stands for."""
        if node is None:
            return []
        return self._made(node, lambda: self._makers(node))

    def _makers(self, node: ast.expr) -> list[Made]:
        found: list[Made] = []
        for call in [
            end.node for end in self.follower.follow(node) if isinstance(end.node, ast.Call)
        ]:
            callees = self.of(call)
            target = self.sources.meaning(call.func)
            if isinstance(call.func, ast.Attribute) and call.func.attr in SAME_OBJECT:
                found += self.made(call.func.value)
            elif callees or not isinstance(target, Scope) or not target.is_function:
                found += [Made(callee, call) for callee in callees]
            else:
                found += [made for value in target.returned() for made in self.made(value)]
        return found

    def _names(self, node: ast.AST, written: Written) -> list[Callee]:
        direct = self.sources.dotted(node) if isinstance(node, ast.Name | ast.Attribute) else ""
        if direct:
            return [Callee(direct, End(node, written))]
        if isinstance(node, ast.Subscript):
            return self._table(node)
        if isinstance(node, ast.Call):
            return self._chosen(node)
        if not isinstance(node, ast.Name | ast.Attribute):
            return []
        ends = [end for end in self.follower.follow(node) if end.node is not node]
        return [callee for end in ends for callee in self.named(end.node, end.written)]

    def _chosen(self, node: ast.Call) -> list[Callee]:
        """`getattr(torch.optim, name)`, `functools.partial(nn.LeakyReLU, 0.1)`."""
        dotted = self.sources.dotted(node.func)
        if dotted == "functools.partial" and node.args:
            return self.named(node.args[0])
        if dotted != "builtins.getattr" or len(node.args) < 2:
            return []
        base = self.sources.dotted(node.args[0])
        ends = self.follower.follow(node.args[1]) if base else []
        chosen = [(_chosen_word(end), end) for end in ends]
        return [
            Callee(
                canonical(f"{base}.{word}"),
                end,
                True,
            )
            for word, end in chosen
            if word
        ]

    def _table(self, node: ast.Subscript) -> list[Callee]:
        """`ACTIVATIONS[args.act]`, where the table is a dictionary of the program."""
        tables = [
            end.node for end in self.follower.follow(node.value) if isinstance(end.node, ast.Dict)
        ]
        table = entries(tables[0]) if len(tables) == 1 else {}
        choices = tuple(name for name in table if isinstance(name, str))
        found = []
        for end in self.follower.follow(node.slice) if choices else ():
            value = table.get(_chosen_word(end))
            dotted = self.sources.dotted(value) if value is not None else ""
            if dotted:
                found.append(Callee(dotted, end, True, choices))
        return found


def _chosen_word(end: End) -> str:
    return end.in_force if isinstance(end.in_force, str) else ""


def chosen_name(callee: Callee) -> str:
    """The class name, or the word that chose it."""
    if callee.chosen:
        return str(callee.end.in_force)
    return last_name(callee.dotted)
