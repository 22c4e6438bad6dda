"""Losses over all rows in a program that splits them."""

import ast
from collections.abc import Iterator

from reenact.program.flow.constants import constant_of
from reenact.program.flow.uses import names_that_reach, stores
from reenact.program.syntax.excerpt import excerpt
from reenact.program.syntax.index import FileIndex
from reenact.program.syntax.pieces import (
    Found,
    called,
    calls_in,
    elements,
    function_of,
    last_word,
    names,
    within,
)
from reenact.program.training.roles import is_loss_call
from reenact.program.training.rows.splits import pairs

OF_GRAPHS = ("train_mask", "val_mask", "test_mask")
"""What torch_geometric calls the masks of the splits of a graph."""


def over_all_rows(index: FileIndex) -> Found:
    """Losses of a training, where a program splits its rows by masks or numbers and no loss
    reads any.
    """
    if calls_in(index.tree, "DataLoader", "fit", "Subset"):
        return
    owners = {function_of(call) for call in index.calls if called(call) == "backward"}
    losses = [
        call
        for call in index.calls
        if is_loss_call(call) and len(call.args) >= 2 and function_of(call) in owners
    ]
    picked_by_numbers = {
        target.id
        for target, value in stores(index.tree)
        # The same rows in another order are all of them.
        if isinstance(target, ast.Name) and _picks_rows(value) and target.id not in names(value)
    }
    given_rows = [arg for call in losses for arg in call.args]
    if any(_picks_rows(arg) or names(arg) & picked_by_numbers for arg in given_rows):
        return
    reached = names_that_reach(index, losses)
    given = {name for call in losses for name in names(call)}
    for parts in _parts_of_rows(index) if losses else ():
        cuts = within(index.tree, ast.Subscript)
        picked = [names(node.value) for node in cuts if last_word(node.slice) in parts]
        if not reached & parts and any(given & rows for rows in picked):
            yield (
                losses[0],
                f"{excerpt(losses[0])} takes every row; the split of the program does not enter",
            )
            return


def _picks_rows(value: ast.expr) -> bool:
    """Whether this is a part of its rows, picked by a mask or by numbers: no column, no slice."""
    given = value.slice if isinstance(value, ast.Subscript) else None
    picks = isinstance(given, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    return picks and constant_of(given) is None


def _parts_of_rows(index: FileIndex) -> Iterator[set[str]]:
    """The variables that rows may have been shared out to, by one statement each."""
    yield {node.attr for node in within(index.tree, ast.Attribute) if node.attr in OF_GRAPHS}
    for pair in pairs(index):
        yield {*map(last_word, pair)} - {""}
    for target, value in stores(index.tree):
        if len(elements(target)) > 1 and isinstance(value, ast.Call):
            yield {*map(last_word, elements(target))} - {""}
