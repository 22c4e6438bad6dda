"""Rows that are brought into another order, as far as one function reports: which variables follow which."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from reenact.program.flow.constants import constant_of
from reenact.program.flow.uses import assigned
from reenact.program.syntax.excerpt import key_of, same
from reenact.program.syntax.pieces import (
    all_parts,
    called,
    calls_in,
    elements,
    given_to,
    is_call,
    is_constant,
    is_method,
    keyword,
    names_read,
    owner_of,
    within,
)

ORDERS = ("argsort", "permutation", "randperm", "lexsort")
SAMPLES = ("randint", "integers", "choice", "multinomial")
"""What gives the numbers of rows: all of them in another order, or some by chance."""
FIXED = ("default_rng", "RandomState")
"""Generators that give the same numbers again where they are made again of the same seed."""
TABLE = ("sort_values", "sample", "sort_index")
"""What gives a table in another order."""
MOVES = (
    *ORDERS,
    *SAMPLES,
    *TABLE,
    "sort",
    "sorted",
    "shuffle",
)
"""Without one of these calls all rows keep their order."""
NO_ROWS = (
    "listdir",
    "glob",
    "rglob",
    "iterdir",
    "scandir",
    "walk",
    "range",
    "arange",
    "len",
    "int",
    "float",
)
"""What has no order that another thing follows: files are sorted to give them one."""


@dataclass(frozen=True, eq=False)
class Order:
    """One order of rows."""

    words: str
    node: ast.expr | ast.stmt
    whole: bool
    """All rows are still there."""
    by_chance: bool
    seed: ast.AST | None = None

    def is_same(self, other: "Order") -> bool:
        """Whether both come of one call, or a seed says that two draws are one."""
        if self.node is other.node:
            return True
        return self.seed is not None and same(self.seed, other.seed)


@dataclass(frozen=True)
class Rows:
    """What is known of a variable: what its rows came with, and the one order that they were
    given since.
    """

    sources: frozenset[str]
    order: Order | None = None


class RowsOf:
    """One function, or the file outside of functions, read from top to bottom."""

    def __init__(self, scope: ast.Module | ast.FunctionDef) -> None:
        self.scope = scope
        self.orders: dict[str, Order] = {}
        arguments = scope.args.args if isinstance(scope, ast.FunctionDef) else []
        given = Rows(frozenset({"arguments"}))
        self.rows = {one.arg: given for one in arguments[is_method(scope) :]}

    def read(self, statement: ast.stmt) -> None:
        """What a statement does to what is known."""
        match statement:
            case ast.Expr(ast.Call() as call):
                self._in_place(call)
            case ast.Assign([ast.Tuple([values, numbers]), *_], value) if called(value) == "sort":
                # `lengths, order = lengths.sort()`: values in order, and their numbers.
                order = Order("sort()", statement, True, False)
                rows = self.value(value)
                is_first = rows is not None and rows.order is None
                self._keep(values, replace(rows, order=order) if rows and is_first else None)
                self._keep(numbers, None, order)
            case _:
                results = [
                    (target, self._given(target, value)) for target, value in assigned(statement)
                ]
                for target, (rows, given) in results:
                    self._keep(target, rows, given)
                    base = key_of(target.value) if isinstance(target, ast.Subscript) else ""
                    if base and rows != self.rows.get(base):
                        self.rows.pop(base, None)

    def _keep(
        self,
        target: ast.expr,
        rows: Rows | None,
        order: Order | None = None,
    ) -> None:
        for name in _names(target):
            self.orders.pop(name, None)
            self.rows.pop(name, None)
            if order is not None:
                self.orders[name] = order
            elif rows is not None:
                self.rows[name] = rows

    def _given(self, target: ast.expr, value: ast.expr) -> tuple[Rows | None, Order | None]:
        if isinstance(target, ast.Tuple | ast.List):
            return Rows(frozenset({f"line {value.lineno}"})), None
        # `rng.permutation(rows)` gives rows in another order, where a number gives the order
        # itself.
        first = value.args[0] if is_call(value, "permutation") and value.args else None
        permutes = isinstance(first, ast.Name) and first.id in self.rows
        order = None if permutes else self._order(value)
        if order is None:
            return (self.value(value, target), None)
        return (None, order)

    def _order(self, value: ast.expr) -> Order | None:
        """The order that an expression gives, when it gives the numbers of rows."""
        used = [self.orders[name] for name in names_read(value) if name in self.orders]
        node = value
        while isinstance(node, ast.Call | ast.Attribute | ast.Subscript):
            if is_call(node, *ORDERS, *SAMPLES):
                whole = called(node) in ORDERS and node is value and not used
                chance = called(node) not in ("argsort", "lexsort")
                seed = node if not chance or _is_fixed(node) else None
                return Order(f"{called(node)}()", node, whole, chance, seed)
            cut = node.value if isinstance(node, ast.Subscript) else None
            if used and isinstance(cut, ast.Name):
                if cut.id not in self.orders:
                    return None
                return replace(used[0], whole=False)
            node = _inside(node)
        if isinstance(value, ast.Name) and used:
            return used[0]
        return None

    def value(self, value: ast.expr, target: ast.expr | None = None) -> Rows | None:
        """What is known of the rows of an expression; none where they are mixed or unknown."""
        known = [self.rows[name] for name in names_read(value) if name in self.rows]
        if not known:
            own = is_call(value) and called(value) not in NO_ROWS
            if own:
                return Rows(frozenset({called(value)}))
            return None
        order = known[0].order
        if not all(_equal(one.order, order) for one in known):
            return None
        sources = frozenset[str]().union(*(one.sources for one in known))
        rows = Rows(sources, order)
        taken = self._taken(value, target)
        if taken is None:
            return rows
        # A sum of rows in two orders, as in mixup, is in none.
        summed = any(isinstance(node, ast.BinOp) for node in _outside(value))
        if order is None and not summed:
            return replace(rows, order=taken)
        return None

    def _taken(self, value: ast.expr, target: ast.expr | None) -> Order | None:
        """The order that an expression brings rows into."""
        # Whether a variable is replaced by itself in another order; one next to it may be meant so.
        replaced = key_of(target).rpartition(".")[2] if target is not None else None
        itself = replaced is not None and replaced in names_read(value)
        of_variable = is_call(value) and value.args and isinstance(value.args[0], ast.Name)
        if itself and is_call(value) and of_variable:
            if called(value) in ("sorted", "sort"):
                return _whole(value, by_chance=False)
            if called(value) in ("shuffle", "permutation") and len(value.args) == 1:
                return _whole(value, keyword(value, "random_state"))
        for node in all_parts(value):
            order: Order | None = None
            if isinstance(node, ast.Subscript):
                order = self._order(node.slice)
            elif isinstance(node, ast.ListComp):
                order = self._picked(node)
            elif is_call(node, *TABLE) and _all_rows(node):
                return _of_table(node)
            if order is not None:
                if itself or not order.whole:
                    return order
                return replace(order, whole=False)
        return None

    def _picked(self, node: ast.ListComp) -> Order | None:
        """The order that `[rows[i] for i in order]` picks rows in."""
        loop = node.generators[0]
        number = key_of(loop.target)
        cuts = within(node.elt, ast.Subscript)
        picks = any(key_of(one.slice) == number for one in cuts)
        if picks and len(node.generators) == 1 and not loop.ifs:
            return self._order(loop.iter)
        return None

    def _in_place(self, call: ast.Call) -> None:
        moved: ast.expr | None = None
        if called(call) == "shuffle" and len(given_to(call)) == 1:
            moved = next(iter(call.args), None)
        elif is_call(call, "sort") or _is_in_place(call):
            moved = owner_of(call) if is_call(call, "sort", *TABLE) else None
        if not isinstance(moved, ast.Name):
            return
        rows = self.rows.pop(moved.id, None)
        if rows is not None and rows.order is None:
            order = _whole(call, by_chance=called(call) == "shuffle")
            self.rows[moved.id] = replace(rows, order=order)


def _is_in_place(call: ast.Call) -> bool:
    return is_constant(constant_of(keyword(call, "inplace")), True)


def _whole(call: ast.Call, seed: ast.AST | None = None, *, by_chance: bool = True) -> Order:
    return Order(f"{called(call)}()", call, True, by_chance, seed)


def _of_table(call: ast.Call) -> Order:
    """The order that a table is sorted or drawn in; it is the same again for the same arguments."""
    drawn = called(call) == "sample"
    fixed = not drawn or keyword(call, "random_state") is not None
    seed = ast.Tuple(given_to(call), ast.Load()) if fixed else None
    return _whole(call, seed, by_chance=drawn)


def _is_fixed(node: ast.AST) -> bool:
    """Whether the draw has a seed of its own."""
    return any(
        called(call) in FIXED or keyword(call, "random_state") is not None
        for call in calls_in(node)
    )


def _equal(first: Order | None, second: Order | None) -> bool:
    if first is None or second is None:
        return first is second
    return first.is_same(second)


def _outside(value: ast.expr) -> Iterator[ast.AST]:
    """The parts of an expression that are not within brackets of an index."""
    yield value
    for child in ast.iter_child_nodes(value):
        if isinstance(child, ast.expr) and not (
            isinstance(value, ast.Subscript) and child is value.slice
        ):
            yield from _outside(child)


def _names(target: ast.expr) -> Iterator[str]:
    for one in elements(target):
        yield from _names(one)
    if isinstance(target, ast.Name | ast.Attribute):
        yield key_of(target)


def _inside(node: ast.Call | ast.Attribute | ast.Subscript) -> ast.expr:
    if not isinstance(node, ast.Call):
        return node.value
    owner = owner_of(node) if called(node) in ("astype", "long", "tolist", "to") else None
    if owner is not None:
        return owner
    return node.args[0] if len(node.args) == 1 else node.func


def _all_rows(call: ast.Call) -> bool:
    """Whether all rows of a table are given back: of `sample`, a share of one."""
    if called(call) == "sample":
        whole = is_constant(constant_of(keyword(call, "frac")), 1, 1.0)
        return whole and keyword(call, "replace") is None
    axis = constant_of(keyword(call, "axis"))
    return owner_of(call) is not None and not is_constant(axis, 1, "columns")
