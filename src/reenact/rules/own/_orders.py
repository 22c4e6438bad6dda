"""Rows that are brought into another order, as far as the text of one function tells: which variables follow
which."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from reenact.program.read.index import FileIndex
from reenact.rules.own._flow import assigned
from reenact.rules.own._lines import called

ORDERS = ("argsort", "permutation", "randperm", "lexsort")
SAMPLES = ("randint", "integers", "choice", "multinomial")
"""What gives the numbers of rows: all of them in another order, or some by chance."""
TABLE = ("sort_values", "sample", "sort_index")
"""What gives a table in another order."""
NO_ROWS = ("listdir", "glob", "rglob", "iterdir", "scandir", "walk", "range", "arange", "len", "int", "float")
"""What has no order that another thing follows: files are sorted to give them one."""


@dataclass(frozen=True, eq=False)
class Order:
    """One order of rows."""

    words: str
    node: ast.expr | ast.stmt
    whole: bool
    """All rows are still there."""
    by_chance: bool
    seed: str = ""

    def is_same(self, other: "Order") -> bool:
        """Whether both come of one call, or a seed says that two draws are one."""
        return self.node is other.node or (bool(self.seed) and self.seed == other.seed)


@dataclass(frozen=True)
class Rows:
    """What is known of a variable: what its rows came with, and the one order that they were given since."""

    sources: frozenset[str]
    order: Order | None = None


class RowsOf:
    """One function, or the file outside of functions, read from top to bottom."""

    def __init__(self, index: FileIndex, scope: ast.Module | ast.FunctionDef) -> None:
        self.index, self.scope = index, scope
        self.rows: dict[str, Rows] = {}
        self.orders: dict[str, Order] = {}
        arguments = scope.args.args if isinstance(scope, ast.FunctionDef) else []
        given = [argument.arg for argument in arguments if argument.arg != "self"]
        self.rows.update(dict.fromkeys(given, Rows(frozenset({"arguments"}))))

    def read(self, statement: ast.stmt) -> None:
        """What a statement does to what is known."""
        value = getattr(statement, "value", None)
        if isinstance(statement, ast.Expr) and isinstance(value, ast.Call):
            self._in_place(value)
            return
        if _sorts_with_numbers(statement):
            self._sorted_with_numbers(statement)
            return
        results = [(target, self._given(target, value)) for target, value in assigned(statement)]
        for target, (rows, order) in results:
            for name in _names(target):
                self.orders.pop(name, None)
                self.rows.pop(name, None)
                if order is not None:
                    self.orders[name] = order
                elif rows is not None:
                    self.rows[name] = rows
            base = target.value if isinstance(target, ast.Subscript) else None
            if base is not None and rows != self.rows.get(ast.unparse(base)):
                self.rows.pop(ast.unparse(base), None)

    def _given(self, target: ast.expr, value: ast.expr) -> tuple[Rows | None, Order | None]:
        if isinstance(target, ast.Tuple | ast.List):
            return Rows(frozenset({f"line {value.lineno}"})), None
        order = None if self._permutes(value) else self._order(value)
        return (None, order) if order is not None else (self.value(value, target), None)

    def _permutes(self, value: ast.expr) -> bool:
        """`rng.permutation(rows)`: rows in another order, where a number gives the order itself."""
        if not isinstance(value, ast.Call) or called(value) != "permutation" or not value.args:
            return False
        return isinstance(value.args[0], ast.Name) and value.args[0].id in self.rows

    def _order(self, value: ast.expr) -> Order | None:
        """The order that an expression gives, when it gives the numbers of rows."""
        used = [self.orders[name] for name in read_names(value) if name in self.orders]
        node: ast.AST = value
        while isinstance(node, ast.Call | ast.Attribute | ast.Subscript):
            if isinstance(node, ast.Call) and called(node) in (*ORDERS, *SAMPLES):
                whole = called(node) in ORDERS and node is value and not used
                return self._drawn(node, whole=whole)
            if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and used:
                return replace(used[0], whole=False) if node.value.id in self.orders else None
            node = _inside(node)
        return used[0] if isinstance(value, ast.Name) and used else None

    def _drawn(self, call: ast.Call, *, whole: bool) -> Order:
        text = ast.unparse(call)
        by_chance = called(call) not in ("argsort", "lexsort")
        fixed = "default_rng(" in text or "random_state=" in text or "RandomState(" in text
        seed = text if fixed or not by_chance else ""
        return Order(f"{called(call)}()", call, whole, by_chance, seed)

    def value(self, value: ast.expr, target: ast.expr | None = None) -> Rows | None:
        """What is known of the rows of an expression; none where they are mixed or unknown."""
        known = [self.rows[name] for name in read_names(value) if name in self.rows]
        if not known:
            own = isinstance(value, ast.Call) and called(value) not in NO_ROWS
            return Rows(frozenset({called(value)})) if own and isinstance(value, ast.Call) else None
        if any(not equal(one.order, known[0].order) for one in known):
            return None
        rows = Rows(frozenset().union(*(one.sources for one in known)), known[0].order)
        taken = self._taken(value, target)
        if taken is None:
            return rows
        # A sum of rows in two orders, as in mixup, is in none.
        summed = any(isinstance(node, ast.BinOp) for node in _outside(value))
        return replace(rows, order=taken) if rows.order is None and not summed else None

    def _taken(self, value: ast.expr, target: ast.expr | None) -> Order | None:
        """The order that an expression brings rows into."""
        for node in ast.walk(value):
            if isinstance(node, ast.Subscript | ast.ListComp):
                order = self._order(node.slice) if isinstance(node, ast.Subscript) else self._picked(node)
                if order is not None:
                    statement = self._same_name(target, value)
                    return order if statement or not order.whole else replace(order, whole=False)
            if isinstance(node, ast.Call) and called(node) in TABLE and _all_rows(node):
                seed = ast.unparse(node).partition(f".{called(node)}")[2]
                fixed = called(node) != "sample" or "random_state" in seed
                return Order(f"{called(node)}()", node, True, called(node) == "sample", seed if fixed else "")
            alone = isinstance(node, ast.Call) and len(node.args) > 0 and isinstance(node.args[0], ast.Name)
            if isinstance(node, ast.Call) and alone and self._same_name(target, value):
                if called(node) in ("sorted", "sort") and node is value:
                    return Order(f"{called(node)}()", node, True, False)
                if called(node) in ("shuffle", "permutation") and node is value and len(node.args) == 1:
                    return Order(f"{called(node)}()", node, True, True, _seed(node))
        return None

    def _picked(self, node: ast.ListComp) -> Order | None:
        """The order that `[rows[i] for i in order]` picks rows in."""
        loop = node.generators[0]
        picks = any(
            isinstance(one, ast.Subscript) and ast.unparse(one.slice) == ast.unparse(loop.target)
            for one in ast.walk(node.elt)
        )
        return self._order(loop.iter) if picks and len(node.generators) == 1 and not loop.ifs else None

    def _same_name(self, target: ast.expr | None, value: ast.expr) -> bool:
        """Whether a variable is replaced by itself in another order; one beside it may be meant so."""
        return target is not None and ast.unparse(target).rpartition(".")[2] in read_names(value)

    def _in_place(self, call: ast.Call) -> None:
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        first = call.args[0] if len(call.args) == 1 and not call.keywords else None
        text = ast.unparse(call)
        if called(call) == "shuffle" and isinstance(first, ast.Name):
            self._move(first.id, Order("shuffle()", call, True, True))
        elif called(call) == "sort" and isinstance(owner, ast.Name):
            self._move(owner.id, Order("sort()", call, True, False))
        elif called(call) in TABLE and "inplace=True" in text and isinstance(owner, ast.Name):
            self._move(owner.id, Order(f"{called(call)}()", call, True, False))

    def _move(self, name: str, order: Order) -> None:
        rows = self.rows.get(name)
        if rows is not None:
            self.rows.pop(name)
            if rows.order is None:
                self.rows[name] = replace(rows, order=order)

    def _sorted_with_numbers(self, statement: ast.stmt) -> None:
        """`lengths, order = lengths.sort()`: values in order, and their numbers."""
        assert isinstance(statement, ast.Assign)
        assert isinstance(statement.targets[0], ast.Tuple)
        values, numbers = statement.targets[0].elts
        order = Order("sort()", statement, True, False)
        rows = self.value(statement.value)
        for name in (*_names(values), *_names(numbers)):
            self.rows.pop(name, None)
            self.orders.pop(name, None)
        self.orders.update(dict.fromkeys(_names(numbers), order))
        if rows is not None and rows.order is None:
            self.rows.update(dict.fromkeys(_names(values), replace(rows, order=order)))


def equal(first: Order | None, second: Order | None) -> bool:
    return first is second or (first is not None and second is not None and first.is_same(second))


def flat(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements in the order of the text, those of branches and loops too, those of functions not."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        yield statement
        for part in ("body", "orelse", "finalbody"):
            yield from flat(getattr(statement, part, []))


def _outside(value: ast.expr) -> Iterator[ast.AST]:
    """The parts of an expression that are not within brackets of an index."""
    yield value
    for child in ast.iter_child_nodes(value):
        if isinstance(child, ast.expr) and not (isinstance(value, ast.Subscript) and child is value.slice):
            yield from _outside(child)


def _names(target: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Tuple | ast.List):
        for one in target.elts:
            yield from _names(one)
    elif isinstance(target, ast.Name | ast.Attribute):
        yield ast.unparse(target)


def read_names(node: ast.AST) -> list[str]:
    """Variables and attributes that an expression reads."""
    return [ast.unparse(one) for one in ast.walk(node) if isinstance(one, ast.Name | ast.Attribute)]


def _inside(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Call):
        wrapped = isinstance(node.func, ast.Attribute) and called(node) in ("astype", "long", "tolist", "to")
        if wrapped and isinstance(node.func, ast.Attribute):
            return node.func.value
        return node.args[0] if len(node.args) == 1 else node.func
    return node.value if isinstance(node, ast.Attribute | ast.Subscript) else node


def _all_rows(call: ast.Call) -> bool:
    """Whether all rows of a table are given back: of `sample`, a share of one."""
    words = {word.arg: ast.unparse(word.value) for word in call.keywords}
    if called(call) == "sample":
        return words.get("frac") in ("1", "1.0") and "replace" not in words
    return words.get("axis") not in ("1", "'columns'") and isinstance(call.func, ast.Attribute)


def _seed(call: ast.Call) -> str:
    return next((ast.unparse(word.value) for word in call.keywords if word.arg == "random_state"), "")


def _sorts_with_numbers(statement: ast.stmt) -> bool:
    """Whether a statement takes both results of a tensor's `sort`."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return False
    target = statement.targets[0]
    return called(statement.value) == "sort" and isinstance(target, ast.Tuple) and len(target.elts) == 2
