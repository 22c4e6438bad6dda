"""Where inputs and labels meet in the text that do not follow the same order of rows."""

import ast
from collections.abc import Iterator, Sequence
from itertools import combinations, islice

from reenact.faults.facts.flow import elements, flat, stores
from reenact.faults.facts.lines import Node, place_in, scopes
from reenact.faults.facts.orders import MOVES, Order, RowsOf, read_names
from reenact.faults.facts.parts import Found, called, is_call, within, words
from reenact.faults.facts.roles import is_loss_call
from reenact.faults.facts.together import given_together, is_restored, pairs_of_rows
from reenact.program.syntax.calls import keyword
from reenact.program.syntax.excerpt import excerpt, same
from reenact.program.syntax.index import FileIndex


def moved_alone(index: FileIndex) -> Found:
    """Where inputs are given another order than labels that they are used with."""
    yield from _split_apart(index)
    mapped = [arg for call in index.calls if called(call) == "map" for arg in call.args]
    by_row = {name for arg in mapped for name in words(arg)}
    for scope in scopes(index):
        if _moves(scope) and getattr(scope, "name", "") not in by_row:
            yield from islice(_meetings(RowsOf(index, scope)), 1)
    for one in index.classes:
        yield from islice(_in_data_set(index, one.node), 1)


def _moves(scope: ast.AST) -> bool:
    """Whether anything in it gives rows another order."""
    return any(is_call(one, *MOVES) for one in within(scope, ast.Call))


def _in_data_set(index: FileIndex, node: ast.AST) -> Found:
    """What a data set gives together of what it was made with."""
    methods = {
        one.name: one for one in getattr(node, "body", []) if isinstance(one, ast.FunctionDef)
    }
    made = methods.get("__init__")
    item = methods.get("__getitem__")
    if made is None or item is None or not _moves(made):
        return
    scope = RowsOf(index, made)
    for statement in flat(made.body):
        scope.read(statement)
    for answer in (one.value for one in within(item, ast.Return)):
        for cut, other in combinations(_own_rows(answer), 2):
            if same(cut.slice, other.slice):
                yield from _meet(scope, cut.value, other.value)


def _own_rows(answer: ast.expr | None) -> list[ast.Subscript]:
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
            seeds = [keyword(call, "random_state") for call in (first, second)]
            straight = any(
                isinstance(word, ast.Constant) and word.value is False
                for word in (keyword(call, "shuffle") for call in (first, second))
            )
            by_chance = seeds[0] is None or not same(*seeds)
            ends = zip(elements(target), elements(other), strict=False)
            if straight or not by_chance or _restored(index, first, second):
                continue
            if any(_belong(index, one, another) for one, another in ends):
                both = f"{excerpt(first.args[0])} and {excerpt(second.args[0])}"
                yield place_in(index, second), f"{both} are split by separate draws"


def _belong(index: FileIndex, first: ast.expr, second: ast.expr) -> bool:
    return any(
        frozenset((one, other)) in pairs_of_rows(index)
        for one in read_names(first)
        for other in read_names(second)
    )


def _meetings(scope: RowsOf) -> Found:
    for statement in flat(scope.scope.body):
        own = [
            child for child in ast.iter_child_nodes(statement) if not isinstance(child, ast.stmt)
        ]
        for parts in (pair for child in own for pair in given_together(scope.index, child)):
            for first, second in combinations(parts, 2):
                yield from _meet(scope, first, second)
        if isinstance(statement, ast.Return):
            for first, second in _returned_together(scope, elements(statement.value)):
                yield from _meet(scope, first, second)
        scope.read(statement)


def _returned_together(
    scope: RowsOf,
    parts: Sequence[ast.expr],
) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What a function returns and its caller uses row by row."""
    owner = getattr(scope.scope, "name", "")
    for target, value in stores(scope.index.tree):
        taken = elements(target) if is_call(value, owner) else []
        if len(taken) == len(parts):
            for one, other in combinations(range(len(parts)), 2):
                if _belong(scope.index, taken[one], taken[other]):
                    yield parts[one], parts[other]


def _meet(scope: RowsOf, first: ast.expr, second: ast.expr) -> Found:
    """Two values that belong together row by row."""
    rows = scope.value(first)
    labels = scope.value(second)
    if rows is None or labels is None or not rows.sources & labels.sources:
        return
    moved = _difference(scope.index, rows.order, labels.order)
    call = scope.index.parents.get(second)
    # A target that is moved where a loss compares is moved on purpose.
    set_aside = (
        isinstance(call, ast.Call)
        and is_loss_call(scope.index, call)
        and labels.order is not None
        and rows.order is None
    )
    if moved is not None and not set_aside:
        follows, stays = (first, second) if moved is rows.order else (second, first)
        saw = (
            f"{excerpt(follows, 40)} follows {moved.words}, {excerpt(stays, 40)} does not: "
            "labels no longer match their rows"
        )
        yield place_in(scope.index, moved.node), saw


def _difference(
    index: FileIndex,
    first: Order | None,
    second: Order | None,
) -> Order | None:
    """The order that only one of two follows, or two draws by chance of which each follows one."""
    if first is not None and second is not None:
        apart = first.by_chance and second.by_chance and not first.is_same(second)
        if apart and not _restored(index, first.node, second.node):
            return first
        return None
    alone = first or second
    return alone if alone is not None and alone.whole else None


def _restored(index: FileIndex, first: Node, second: Node) -> bool:
    """Whether a seed is set between two draws."""
    begin, end = sorted((first.lineno, second.lineno))
    return is_restored(index, begin, end)
