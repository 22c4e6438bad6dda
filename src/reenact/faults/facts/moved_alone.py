"""Where inputs and labels meet in the text that do not follow the same order of rows."""

import ast
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from reenact.faults.facts.flow import elements, flat, stores
from reenact.faults.facts.lines import Node, place_in, scopes
from reenact.faults.facts.orders import MOVES, Order, RowsOf, equal, read_names
from reenact.faults.facts.parts import Found, called, is_call, options, within, words
from reenact.program.syntax.index import FileIndex

LABELS = re.compile(
    r"(?:^|_)(?:y(?:tr|te|va|val|train|test|b)?\d?|t|labels?|targets?|classes|outcomes?)(?:_|$)",
    re.IGNORECASE,
)
RESTORED = re.compile(r"seed\(|set_state|setstate|set_rng_state|RandomState\(|default_rng\(")
"""What lets one draw be repeated."""
TOGETHER = ("TensorDataset", "train_test_split", "fit", "from_tensor_slices", "zip")
LOSS = re.compile(r"loss|criterion|cross_entropy|mse", re.IGNORECASE)
MEASURES = re.compile(
    r"(?i)scor|metric|auc|curve|precision|recall|rank|ndcg|calib|top|perm|null|baseline|importance|augment|transf|"
    r"jitter|__getitem__|__call__|forward"
)
"""Functions that sort, or shuffle one side, on purpose, or that are given one row."""


def moved_alone(index: FileIndex) -> Found:
    """Where inputs are given another order than labels that they are used with."""
    yield from _split_apart(index)
    mapped = [arg for call in index.calls if called(call) == "map" for arg in call.args]
    by_row = {name for arg in mapped for name in words(arg)}
    for scope in scopes(index):
        name = getattr(scope, "name", "")
        if _moves(scope) and name not in by_row and not MEASURES.search(name):
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
    is_own = re.compile(r"self\.\w+").fullmatch
    for answer in (one.value for one in within(item, ast.Return)):
        parts = answer.elts if isinstance(answer, ast.Tuple) else []
        own = [
            [one for one in within(part, ast.Attribute) if is_own(ast.unparse(one))]
            for part in parts
        ]
        if len(parts) > 1 and all(own):
            yield from _meet(
                scope,
                [one[0] for one in own],
                ast.Pass(),
            )


def _split_apart(index: FileIndex) -> Found:
    """Inputs and labels that are split by two calls with other seeds."""
    for scope in scopes(index):
        values = [one.value for one in scope.body if isinstance(one, ast.Assign)]
        calls = [one for one in values if is_call(one, "train_test_split") and len(one.args) == 1]
        if len(calls) != 2 or _restored(index, *calls):
            continue
        given = [options(call) for call in calls]
        seeds = [one.get("random_state", "None") for one in given]
        names = [ast.unparse(call.args[0]) for call in calls]
        straight = any(one.get("shuffle") == "False" for one in given)
        by_chance = seeds[0] != seeds[1] or seeds[0] == "None"
        if not straight and sum(bool(LABELS.search(name)) for name in names) == 1 and by_chance:
            yield (
                place_in(index, calls[1]),
                f"{names[0]} and {names[1]} are split by separate draws",
            )


def _meetings(scope: RowsOf) -> Found:
    for statement in flat(scope.scope.body):
        for pair in _together(statement):
            yield from _meet(scope, pair, statement)
        scope.read(statement)


def _meet(
    scope: RowsOf,
    parts: Sequence[ast.expr],
    statement: ast.stmt,
) -> Found:
    """Inputs beside labels, the last of the parts."""
    *inputs, label = parts
    labels = scope.value(label)
    returned = isinstance(statement, ast.Return)
    if labels is None or not (
        _is_label(label) or (returned and _is_returned_as_label(scope, len(parts)))
    ):
        return
    others = [scope.value(part) for part in inputs if _is_label(part)]
    for part in inputs:
        rows = scope.value(part)
        if rows is None or not rows.sources & labels.sources or _is_label(part):
            continue
        if any(equal(other.order, rows.order) for other in others if other is not None):
            # Rows of two splits side by side: its own labels follow it.
            continue
        moved = _difference(scope.index, rows.order, labels.order)
        # Labels that are moved elsewhere than where a data set is put together are moved on
        # purpose.
        puts_together = any(is_call(node, *TOGETHER) for node in within(statement, ast.Call))
        set_aside = labels.order is not None and rows.order is None and not puts_together
        if moved is not None and not set_aside:
            first, second = (part, label) if moved is rows.order else (label, part)
            saw = (
                f"{_words(first)} follows {moved.words}, {_words(second)} does not: "
                "labels no longer match their rows"
            )
            yield place_in(scope.index, moved.node), saw


def _is_returned_as_label(scope: RowsOf, count: int) -> bool:
    """Whether the last of so many values that a function returns is a label where it is called."""
    owner = getattr(scope.scope, "name", "")
    taken = [
        elements(target) for target, value in stores(scope.index.tree) if is_call(value, owner)
    ]
    return any(len(parts) == count and _is_label(parts[-1]) for parts in taken)


def _together(statement: ast.stmt) -> Iterator[Sequence[ast.expr]]:
    """Values that a statement says belong together row by row, the labels last."""
    own = [child for child in ast.iter_child_nodes(statement) if not isinstance(child, ast.stmt)]
    for call in (node for part in own for node in within(part, ast.Call)):
        parts = [one for one in call.args if not isinstance(one, ast.Starred)]
        if called(call) == "from_tensor_slices" and parts and isinstance(parts[0], ast.Tuple):
            parts = parts[0].elts
        data = called(call) in TOGETHER or called(call).endswith(("Dataset", "Data"))
        named = {word.arg: word.value for word in call.keywords}
        if called(call) == "fit" and {"x", "y"} <= set(named):
            yield named["x"], named["y"]
        elif len(parts) > 1 and data:
            yield parts[:2] if called(call) == "fit" else parts
        elif len(parts) == 2 and LOSS.search(called(call)):
            yield parts
    for table in (node for part in own for node in within(part, ast.Dict)):
        keys = [str(getattr(key, "value", "")) for key in table.keys]
        columns = dict(zip(keys, table.values, strict=True))
        for name in columns if len(columns) > 1 else ():
            if LABELS.search(name) and name != "t":
                yield [value for key, value in columns.items() if key != name] + [columns[name]]
    if (
        isinstance(statement, ast.Return)
        and isinstance(statement.value, ast.Tuple)
        and statement.value.elts
    ):
        yield statement.value.elts


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
    return any(RESTORED.search(line) for line in index.text.splitlines()[begin : end - 1])


def _is_label(node: ast.expr) -> bool:
    return any(LABELS.search(name.rpartition(".")[2]) for name in read_names(node))


def _words(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 40 else f"{text[:37]}..."
