"""Where rows are scaled, what scalers are fitted to, and rows that a model makes itself."""

import ast
from collections.abc import Sequence
from itertools import permutations

from reenact.program.flow.uses import stores
from reenact.program.syntax.excerpt import excerpt, key_of, same
from reenact.program.syntax.index import FileIndex
from reenact.program.syntax.pieces import (
    Found,
    all_parts,
    called,
    calls_in,
    file_of,
    is_call,
    is_sum,
    names,
    owner_of,
    place_of,
    within,
)
from reenact.program.training.roles import is_without_gradients
from reenact.program.training.rows.own_figures import (
    FIGURES,
    held_out_in_turn,
)
from reenact.program.training.rows.splits import apart, evaluated, pairs
from reenact.types import Place

PLAIN_SCALERS = (
    "MaxAbsScaler",
    "MinMaxScaler",
    "Normalization",
    "RobustScaler",
    "StandardScaler",
)


SCALERS = (
    *PLAIN_SCALERS,
    "CountVectorizer",
    "IterativeImputer",
    "KNNImputer",
    "PCA",
    "PowerTransformer",
    "QuantileTransformer",
    "SimpleImputer",
    "TfidfVectorizer",
    "TruncatedSVD",
)
"""Classes of scikit-learn and Keras that learn from rows how to change them."""


FITS = ("fit_transform", "fit", "adapt")


def fitted_again(files: Sequence[FileIndex], index: FileIndex) -> Found:
    """Scalers that are fitted to held-out rows, and what says so."""
    fits = [call for call in index.calls if is_call(call, *FITS) and _is_scaler(call)]
    for first, second in permutations(fits, 2):
        if apart(first.args[0], second.args[0]):
            held, rest = excerpt(second.args[0]), excerpt(first.args[0])
            saw = f"a scaler is fitted to {held} apart from {rest}: one value means two things"
            yield second, saw
    for call in fits:
        rows = held_out_in_turn(files, call, call.args[0])
        if rows is not None:
            saw = f"a scaler is fitted to {excerpt(rows)} by itself: one value means two things"
            yield call, saw


def _is_scaler(call: ast.Call) -> bool:
    """Whether what is fitted here, to rows of numbers, learns their scale."""
    owner = owner_of(call)
    # What is only fitted may be meant for a picture of these rows.
    kinds = SCALERS if called(call) == "fit_transform" else PLAIN_SCALERS
    stored = stores(file_of(call).tree)
    made = [owner, *(value for target, value in stored if same(target, owner))]
    return bool(call.args) and any(calls_in(value, *kinds) for value in made if value)


def generates(index: FileIndex) -> bool:
    """Whether a model is asked without gradients about what it has just answered, over and over:
    what it is then given is made by itself, and no held-out rows.
    """
    for loop in index.loops:
        given = {key_of(node.targets[0]): node.value for node in within(loop, ast.Assign)}
        for call in within(loop, ast.Call) if is_without_gradients(loop) else ():
            first = key_of(call.args[0]) if call.args else ""
            again = given.get(first)
            answers = {name for name, value in given.items() if call in all_parts(value)}
            # A value that is made of the call, or of a variable that holds its answer, in a further
            # step.
            made_of = again is not None and not is_call(again) and call in all_parts(again)
            if again is not None and (made_of or names(again) & (answers - {first})):
                return True
    return False


def scaled_at(files: Sequence[FileIndex]) -> Place | None:
    """Where rows of a split are scaled or given what a scale is made of: held-out rows first, for
    what is done to them is what differs from the rest.
    """
    scaled: list[tuple[bool, Place]] = []
    for index in files:
        held = evaluated(index)
        trained = {name for first, _ in pairs(index) for name in names(first)}
        for node in within(index.tree, ast.Assign):
            stored = {name for target in node.targets for name in names(target)}
            if stored & (held | trained) and any(map(_scales, all_parts(node.value))):
                scaled.append((not stored & held, place_of(node.value)))
    if scaled:
        return min(scaled, key=lambda candidate: candidate[0])[1]
    return None


def _scales(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Div) and is_sum(node.left, ast.Sub)
    return is_call(node, "transform", "fit_transform", "Normalize", *FIGURES)
