"""Which variables belong together row by row: given to one data set or loss, or cut by one index."""

import ast
from collections.abc import Iterator, Sequence
from itertools import combinations

from reenact.program.flow.constants import constant_of
from reenact.program.flow.uses import value_of
from reenact.program.syntax.excerpt import key_of
from reenact.program.syntax.index import FileIndex
from reenact.program.syntax.pieces import (
    called,
    calls_in,
    elements,
    file_of,
    is_call,
    keyword,
    names_read,
    within,
)
from reenact.program.training.roles import is_loss_call

DATA_SETS = (
    "TensorDataset",
    "train_test_split",
    "fit",
    "from_tensor_slices",
    "zip",
)
TABLES = ("from_dict", "DataFrame", "Dataset")
SEEDS = (
    "seed",
    "manual_seed",
    "set_seed",
    "set_random_seed",
    "set_state",
    "setstate",
    "set_rng_state",
    "RandomState",
    "default_rng",
)
"""What lets one draw be repeated."""


def given_together(node: ast.AST) -> Iterator[Sequence[ast.expr]]:
    """Values that calls in a piece of the program take row by row."""
    for call in calls_in(node):
        parts = [given for part in call.args for given in _spread(part)]
        x, y = keyword(call, "x"), keyword(call, "y")
        if is_call(call, "fit"):
            yield parts[:2] if x is None or y is None else (x, y)
        elif is_call(call, "from_tensor_slices") and parts and elements(parts[0]):
            yield elements(parts[0])
        elif is_call(call, *DATA_SETS) or _is_data_set(call):
            yield parts
        elif is_loss_call(call):
            yield parts[:2]
        elif is_call(call, *TABLES):
            yield from (table.values for table in parts if isinstance(table, ast.Dict))


def _spread(node: ast.expr) -> list[ast.expr]:
    """What an argument hands on: of `*rows` and `*[part[:80] for part in rows]` each of the rows."""
    if not isinstance(node, ast.Starred):
        return [node]
    rows = node.value
    if isinstance(rows, ast.ListComp | ast.GeneratorExp):
        rows = rows.generators[0].iter
    return elements(value_of(rows))


def _is_data_set(call: ast.Call) -> bool:
    """Whether it makes an object of a class of the program that gives rows by their numbers."""
    return any(
        isinstance(part, ast.FunctionDef) and part.name == "__getitem__"
        for scope in file_of(call).classes
        if scope.name == called(call)
        for part in getattr(scope.node, "body", ())
    )


def belong(first: ast.expr, second: ast.expr) -> bool:
    """Whether two expressions read variables that belong together row by row."""
    pairs = pairs_of_rows(file_of(first))
    read = names_read(second)
    return any(frozenset((one, other)) in pairs for one in names_read(first) for other in read)


def pairs_of_rows(index: FileIndex) -> frozenset[frozenset[str]]:
    """Two variables each that are given together, or cut by the same index in one statement."""

    def read() -> frozenset[frozenset[str]]:
        simple = [one for one in within(index.tree, ast.stmt) if not hasattr(one, "body")]
        groups = [*given_together(index.tree), *(cut for one in simple for cut in _cut_alike(one))]
        return frozenset(
            frozenset((first, second))
            for parts in groups
            for one, other in combinations(map(names_read, parts), 2)
            for first in one
            for second in other
            if first != second
        )

    return index.once(pairs_of_rows, read)


def _cut_alike(statement: ast.stmt) -> Iterator[list[ast.expr]]:
    """Values that a statement cuts by the same index."""
    by_index: dict[str, list[ast.expr]] = {}
    for cut in within(statement, ast.Subscript):
        if isinstance(cut.ctx, ast.Load) and constant_of(cut.slice) is None:
            by_index.setdefault(key_of(cut.slice), []).append(cut.value)
    yield from by_index.values()


def is_restored(first: ast.expr | ast.stmt, second: ast.expr | ast.stmt) -> bool:
    """Whether a seed is set between two draws."""
    begin, end = sorted((first.lineno, second.lineno))
    return any(begin < call.lineno < end for call in file_of(first).calls if is_call(call, *SEEDS))
