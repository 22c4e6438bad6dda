"""Layers that drop in both modes, take another shape, or know too few numbers; loops that clear too often."""

from __future__ import annotations

import ast

from reenact.faults import Evidence, Place
from reenact.faults.fixes.drafting import (
    Fixes,
    edit,
    nodes_at,
    offered,
    reading_of,
    refused,
    replace,
    with_method,
)
from reenact.probe.crash_values import outside
from reenact.program.edit.source_editor import SourceEditor
from reenact.program.flow.uses import objects_of
from reenact.program.syntax.calls import argument, keyword
from reenact.program.syntax.excerpt import same
from reenact.program.syntax.index import statement_of
from reenact.program.syntax.pieces import (
    called,
    calls_in,
    elements,
    file_of,
    function_of,
    is_call,
    is_method,
    loops_of,
    owner_of,
)
from reenact.program.training.habits import optimizer_steps, stepped
from reenact.program.training.purpose import Purposes

DROPOUTS = (
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "alpha_dropout",
    "feature_alpha_dropout",
)
RECURRENT = ("LSTM", "GRU", "SimpleRNN")


def drop_in_training_alone(evidence: Evidence) -> Fixes:
    """`F.dropout` follows the mode of the model whose method calls it."""
    calls = [one for index in evidence.files for one in calls_in(index.tree, *DROPOUTS)]
    missing = [one for one in calls if 1 <= len(one.args) <= 2 and keyword(one, "training") is None]
    inside = [one for one in missing if is_method(function_of(one))]
    if not inside:
        return refused("The function that drops belongs to no model whose mode it could follow.")
    return edit(evidence, "drop in training mode alone", _follow_mode, inside)


def _follow_mode(editor: SourceEditor, calls: list[ast.Call]) -> None:
    for call in calls:
        function = function_of(call)
        assert not isinstance(function, ast.Module)
        own = function.args.args[0].arg
        editor.set_argument(call, "training", f"{own}.training")


def flatten_before(evidence: Evidence, place: Place | None) -> Fixes:
    """The rows of a map become one axis before the dense layer that takes them."""
    for made in nodes_at(evidence, place, ast.Call):
        if not is_call(made, "Linear", "Dense"):
            continue
        parent = file_of(made).parents.get(made)
        if is_call(parent) or elements(parent if isinstance(parent, ast.expr) else None):
            return edit(evidence, "flatten before the dense layer", _flatten_item, made)
        passes = [
            one
            for one in file_of(made).calls
            if one.args and any(each is made for each in objects_of(one.func, called(made)))
        ]
        if len(passes) == 1 and is_call(made, "Linear"):
            return edit(
                evidence,
                "flatten before the dense layer",
                with_method,
                passes[0].args[0],
                ".flatten(1)",
            )
    return refused("Where the dense layer is given its rows is not seen.")


def _flatten_item(editor: SourceEditor, made: ast.Call) -> None:
    torch = is_call(made, "Linear")
    name = editor.name_for("torch.nn.Flatten" if torch else "keras.layers.Flatten", made)
    editor.wrap(made, f"{name}(), ", "")


def give_back_sequences(evidence: Evidence, place: Place | None) -> Fixes:
    """A recurrent layer of Keras before another one gives all of its steps."""
    for made in nodes_at(evidence, place, ast.Call):
        parent = file_of(made).parents.get(made)
        items = elements(parent if isinstance(parent, ast.expr) else None)
        before = items[: items.index(made)] if made in items else []
        earlier = [one for one in before if is_call(one, *RECURRENT)]
        if earlier and is_call(made, *RECURRENT):
            return edit(
                evidence,
                "give every step of the sequence to the next layer",
                _every_step,
                earlier[-1],
            )
    return ()


def _every_step(editor: SourceEditor, made: ast.expr) -> None:
    assert isinstance(made, ast.Call)
    editor.set_argument(made, "return_sequences", "True")


def widen_table(evidence: Evidence) -> Fixes:
    """A table of embeddings has a row for each number that it is asked for."""
    beyond = outside(evidence.crash) if evidence.crash is not None else None
    if beyond is None or evidence.crash is None or beyond[0].maximum is None:
        return refused("Which numbers the table is asked for was not seen.")
    operand, size = beyond
    found: list[Fixes] = []
    for index in evidence.files:
        for made in calls_in(index.tree, "Embedding"):
            given = argument(made, 0, "num_embeddings")
            if isinstance(given, ast.Constant) and given.value == size:
                most = operand.maximum or 0
                does = f"give the table a row for each number up to {most}"
                found.append(edit(evidence, does, replace, given, str(most + 1)))
    return offered(*found, refused("The size of the table is not a number of the text."))


def clear_once_a_step(evidence: Evidence) -> Fixes:
    """Gradients of several backward passes are spent by one step: what clears them between these goes
    before their loop.
    """
    reading = reading_of(evidence)
    if reading is None:
        return ()
    for step in optimizer_steps(reading.analysis):
        optimizer = stepped(reading.analysis, step)
        around = loops_of(step)
        for cleared in calls_in(function_of(step), "zero_grad"):
            inner = [one for one in loops_of(cleared) if one not in around]
            others = [
                one
                for one in calls_in(function_of(step), "zero_grad")
                if one is not cleared and same(owner_of(one), optimizer)
            ]
            if inner and same(owner_of(cleared), optimizer):
                does = "clear the gradients once a step, not before each backward pass"
                return edit(evidence, does, _clear_before, cleared, inner[0], bool(others))
    return ()


def _clear_before(
    editor: SourceEditor, cleared: ast.Call, loop: ast.stmt, is_cleared: bool
) -> None:
    statement = statement_of(cleared)
    if not is_cleared:
        editor.before(loop, editor.text(statement))
    editor.remove_statement(statement)


def shuffle_rows(evidence: Evidence) -> Fixes:
    """The loader that trains draws its rows in another order each epoch."""
    reading = reading_of(evidence)
    if reading is None:
        return ()
    purposes = Purposes(reading.loops)
    found: list[Fixes] = []
    for index in evidence.files:
        for made in calls_in(index.tree, "DataLoader"):
            free = keyword(made, "sampler", "batch_sampler") is None and len(made.args) < 3
            if free and purposes.of_loader(made).value != "evaluates":
                found.append(
                    edit(
                        evidence,
                        "draw the rows in another order each epoch",
                        SourceEditor.set_argument,
                        made,
                        "shuffle",
                        "True",
                    )
                )
    return offered(*found)
