"""Which variables belong together row by row: given to one data set or loss, or cut by one index."""

import ast
from collections.abc import Iterator, Sequence
from itertools import combinations

from reenact.faults.facts.flow import elements
from reenact.faults.facts.lines import value_of
from reenact.faults.facts.orders import read_names
from reenact.faults.facts.parts import called, is_call, within
from reenact.faults.facts.roles import is_loss_call
from reenact.program.syntax.index import FileIndex

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


def given_together(index: FileIndex, node: ast.AST) -> Iterator[Sequence[ast.expr]]:
    """Values that calls in a piece of the program take row by row."""
    for call in within(node, ast.Call):
        parts = [given for part in call.args for given in _spread(index, part)]
        named = {word.arg: word.value for word in call.keywords}
        if is_call(call, "fit") and {"x", "y"} <= set(named):
            yield named["x"], named["y"]
        elif is_call(call, "from_tensor_slices") and parts and elements(parts[0]):
            yield elements(parts[0])
        elif is_call(call, *DATA_SETS) or is_data_set(index, call):
            yield parts[:2] if called(call) == "fit" else parts
        elif len(parts) > 1 and is_loss_call(index, call):
            yield parts[:2]
        elif is_call(call, *TABLES):
            for table in parts:
                yield table.values if isinstance(table, ast.Dict) else ()


def _spread(index: FileIndex, node: ast.expr) -> list[ast.expr]:
    """What an argument hands on: of `*rows` and `*[part[:80] for part in rows]` each of the rows."""
    if not isinstance(node, ast.Starred):
        return [node]
    rows = node.value
    if isinstance(rows, ast.ListComp | ast.GeneratorExp):
        rows = rows.generators[0].iter
    return elements(value_of(index, rows))


def is_data_set(index: FileIndex, call: ast.Call) -> bool:
    """Whether it makes an object of a class of the program that gives rows by their numbers."""
    return any(
        isinstance(part, ast.FunctionDef) and part.name == "__getitem__"
        for scope in index.classes
        if scope.name == called(call)
        for part in getattr(scope.node, "body", ())
    )


def pairs_of_rows(index: FileIndex) -> frozenset[frozenset[str]]:
    """Two variables each that are given together, or cut by the same index in one statement."""

    def read() -> frozenset[frozenset[str]]:
        groups = [
            [set(read_names(part)) for part in parts] for parts in given_together(index, index.tree)
        ]
        for statement in within(index.tree, ast.stmt):
            if not hasattr(statement, "body"):
                groups += _cut_alike(statement)
        return frozenset(
            frozenset((first, second))
            for parts in groups
            for one, other in combinations(parts, 2)
            for first in one
            for second in other
            if first != second
        )

    return index.once(pairs_of_rows, read)


def _cut_alike(statement: ast.stmt) -> Iterator[list[set[str]]]:
    by_index: dict[str, list[set[str]]] = {}
    for cut in within(statement, ast.Subscript):
        if isinstance(cut.ctx, ast.Load) and not isinstance(cut.slice, ast.Constant):
            by_index.setdefault(ast.dump(cut.slice), []).append(set(read_names(cut.value)))
    yield from by_index.values()


def is_restored(index: FileIndex, first: int, last: int) -> bool:
    """Whether a seed is set between two lines."""
    return any(first < call.lineno < last for call in index.calls if is_call(call, *SEEDS))
