"""Where inputs and labels meet in the text that do not follow the same order of rows."""

import ast
from collections.abc import Iterator, Sequence
from itertools import combinations, islice

from reenact.program.flow.constants import constant_of
from reenact.program.flow.uses import stores
from reenact.program.syntax.excerpt import excerpt, same
from reenact.program.syntax.index import FileIndex
from reenact.program.syntax.pieces import (
    Found,
    calls_in,
    elements,
    file_of,
    flat,
    is_call,
    is_constant,
    keyword,
    returned,
    scopes,
    within,
    words,
)
from reenact.program.training.roles import is_loss_call
from reenact.program.training.rows.orders import MOVES, Order, RowsOf
from reenact.program.training.rows.together import belong, given_together, is_restored


def moved_alone(index: FileIndex) -> Found:
    """Where inputs are given another order than labels that they are used with."""
    yield from _split_apart(index)
    mapped = [arg for call in calls_in(index.tree, "map") for arg in call.args]
    by_row = {name for arg in mapped for name in words(arg)}
    for scope in scopes(index):
        if calls_in(scope, *MOVES) and getattr(scope, "name", "") not in by_row:
            yield from islice(_meetings(RowsOf(scope)), 1)
    for one in index.classes:
        yield from islice(_in_data_set(one.node), 1)


def _in_data_set(node: ast.AST) -> Found:
    """What a data set gives together of what it was made with."""
    methods = {
        one.name: one for one in getattr(node, "body", []) if isinstance(one, ast.FunctionDef)
    }
    made = methods.get("__init__")
    item = methods.get("__getitem__")
    if made is None or item is None or not calls_in(made, *MOVES):
        return
    scope = RowsOf(made)
    for statement in flat(made.body):
        scope.read(statement)
    for answer in returned(item):
        for cut, other in combinations(_own_rows(answer), 2):
            if same(cut.slice, other.slice):
                yield from _meet(scope, cut.value, other.value)


def _own_rows(answer: ast.expr) -> list[ast.Subscript]:
    """`self.files[i]` and `self.labels[i]` of what a data set gives for a number."""
    cuts = (cut for part in elements(answer) for cut in within(part, ast.Subscript))
    return [cut for cut in cuts if isinstance(cut.value, ast.Attribute)]


def _split_apart(index: FileIndex) -> Found:
    """Rows that belong together and are split by two calls with other seeds."""
    for scope in scopes(index):
        split = [
            (target, value)
            for target, value in stores(scope)
            if is_call(value, "train_test_split") and len(value.args) == 1
        ]
        for (target, first), (other, second) in combinations(split, 2):
            seed = keyword(first, "random_state")
            seeded = seed is not None and same(seed, keyword(second, "random_state"))
            straight = _keeps_order(first) or _keeps_order(second)
            ends = zip(elements(target), elements(other), strict=False)
            if seeded or straight or is_restored(first, second):
                continue
            if any(belong(one, another) for one, another in ends):
                both = f"{excerpt(first.args[0])} and {excerpt(second.args[0])}"
                yield second, f"{both} are split by separate draws"


def _keeps_order(split: ast.Call) -> bool:
    """Whether a split is asked not to shuffle."""
    return is_constant(constant_of(keyword(split, "shuffle")), False)


def _meetings(scope: RowsOf) -> Found:
    for statement in flat(scope.scope.body):
        own = [one for one in ast.iter_child_nodes(statement) if not isinstance(one, ast.stmt)]
        meeting = [
            pair for one in own for parts in given_together(one) for pair in combinations(parts, 2)
        ]
        if isinstance(statement, ast.Return):
            meeting += _returned_together(scope, elements(statement.value))
        for first, second in meeting:
            yield from _meet(scope, first, second)
        scope.read(statement)


def _returned_together(
    scope: RowsOf, parts: Sequence[ast.expr]
) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What a function returns and its caller uses row by row."""
    owner = getattr(scope.scope, "name", "")
    for target, value in stores(file_of(scope.scope).tree):
        taken = elements(target) if is_call(value, owner) else []
        if len(taken) == len(parts):
            both = zip(combinations(taken, 2), combinations(parts, 2), strict=True)
            yield from (pair for (one, other), pair in both if belong(one, other))


def _meet(scope: RowsOf, first: ast.expr, second: ast.expr) -> Found:
    """Two values that belong together row by row."""
    rows = scope.value(first)
    labels = scope.value(second)
    if rows is None or labels is None or not rows.sources & labels.sources:
        return
    moved = _difference(rows.order, labels.order)
    # A target that is moved where a loss compares is moved on purpose.
    compared = is_loss_call(file_of(second).parents.get(second))
    if moved is not None and not (compared and moved is labels.order and rows.order is None):
        follows, stays = (first, second) if moved is rows.order else (second, first)
        saw = (
            f"{excerpt(follows, 40)} follows {moved.words}, {excerpt(stays, 40)} does not: "
            "labels no longer match their rows"
        )
        yield moved.node, saw


def _difference(first: Order | None, second: Order | None) -> Order | None:
    """The order that only one of two follows, or two draws by chance of which each follows one."""
    if first is not None and second is not None:
        apart = first.by_chance and second.by_chance and not first.is_same(second)
        if apart and not is_restored(first.node, second.node):
            return first
        return None
    alone = first or second
    return alone if alone is not None and alone.whole else None
