"""Labels that travel apart from their inputs."""

from __future__ import annotations

import ast

from reenact.errors import NotChangeable
from reenact.faults import Evidence, Place
from reenact.faults.fixes.drafting import (
    Fixes,
    code_of,
    edit,
    fresh_name,
    nodes_at,
    offered,
    refused,
    replace,
    statement_at,
)
from reenact.program.edit.source_editor import SourceEditor
from reenact.program.flow.ends import spot_of
from reenact.program.flow.uses import stores, value_of
from reenact.program.syntax.calls import keyword
from reenact.program.syntax.excerpt import same
from reenact.program.syntax.pieces import (
    block_of,
    called,
    calls_in,
    elements,
    file_of,
    function_of,
    is_call,
    names,
    owner_of,
    returned,
    within,
)
from reenact.program.syntax.source import Span

PERMUTES = ("permutation", "randperm")
TURNS = ("flip", "fliplr", "flipud", "rot90", "hflip", "vflip", "rotate", "affine")
"""What turns or mirrors a picture."""


def one_order(evidence: Evidence, place: Place | None) -> Fixes:
    """One draw decides the order of inputs and labels."""
    statement = statement_at(evidence, place)
    if statement is None:
        return ()
    return offered(
        _shuffled_together(evidence, statement),
        _turned_together(evidence, statement),
        *(_turned_together(evidence, one) for one in _turns_near(statement)),
        *(_same_seed(evidence, call) for call in nodes_at(evidence, place, ast.Call)),
        *(_loaders_alike(evidence, call) for call in nodes_at(evidence, place, ast.Call)),
        *(_repeated_alike(evidence, call) for call in nodes_at(evidence, place, ast.Call)),
        refused("Which order is the right one for inputs and labels is not seen here."),
    )


def _shuffled_together(evidence: Evidence, second: ast.stmt) -> Fixes:
    """Two statements of a block that each draw an order."""
    block = block_of(second)
    before = block[: block.index(second)] if second in block else []
    for first in reversed(before):
        if isinstance(first, ast.Expr) and isinstance(second, ast.Expr):
            drawn = _shuffles(first), _shuffles(second)
            if drawn[0] is not None and drawn[1] is not None:
                return edit(
                    evidence,
                    "draw one order for both",
                    _in_one_order,
                    first,
                    second,
                )
        if isinstance(first, ast.Assign) and isinstance(second, ast.Assign):
            orders = _order_of(first), _order_of(second)
            if orders[0] is not None and orders[1] is not None:
                return edit(
                    evidence,
                    "draw one order for both",
                    _take_one_order,
                    first,
                    orders[0],
                    orders[1],
                )
    return ()


def _shuffles(statement: ast.Expr) -> ast.Name | None:
    """`x` of `rng.shuffle(x)`."""
    call = statement.value
    if is_call(call, "shuffle") and len(call.args) == 1 and isinstance(call.args[0], ast.Name):
        return call.args[0]
    return None


def _order_of(statement: ast.Assign) -> ast.expr | None:
    """`torch.randperm(n)` of `x = x[torch.randperm(n)]`."""
    value = statement.value
    if isinstance(value, ast.Subscript) and is_call(value.slice, *PERMUTES):
        return value.slice
    return None


def _in_one_order(editor: SourceEditor, first: ast.Expr, second: ast.Expr) -> None:
    rows, labels = _shuffles(first), _shuffles(second)
    call = first.value
    assert rows is not None
    assert labels is not None
    assert isinstance(call, ast.Call)
    owner = owner_of(call)
    dotted = editor.analysis.sources.dotted(call.func)
    if owner is None or dotted.startswith(("random.", "sklearn.")):
        raise NotChangeable("The rows are lists, which no order of numbers can be applied to.")
    order = fresh_name(first, "order")
    drawn = f"{editor.text(owner)}.permutation(len({rows.id}))"
    editor.replace(spot_of(first), f"{order} = {drawn}")
    pair = f"{rows.id}, {labels.id}"
    editor.replace(spot_of(second), f"{pair} = {rows.id}[{order}], {labels.id}[{order}]")


def _take_one_order(
    editor: SourceEditor, first: ast.Assign, drawn: ast.expr, other: ast.expr
) -> None:
    order = fresh_name(first, "order")
    editor.before(first, f"{order} = {editor.text(drawn)}")
    editor.replace(spot_of(drawn), order)
    editor.replace(spot_of(other), order)


def _turns_near(statement: ast.stmt) -> list[ast.Assign]:
    """Statements of the same function that flip or turn a variable."""
    near = within(function_of(statement), ast.Assign)
    return [one for one in near if calls_in(one.value, *TURNS)]


def _turned_together(evidence: Evidence, statement: ast.stmt) -> Fixes:
    """What is done to the input is done to what belongs to it: the other part of the pair."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return ()
    name = statement.targets[0].id
    if name not in names(statement.value):
        return ()
    partners = _partners(statement, name)
    if len(partners) != 1:
        return ()
    return edit(
        evidence,
        f"turn {partners[0]} as {name} is turned",
        _for_partner,
        statement,
        name,
        partners[0],
    )


def _partners(statement: ast.stmt, name: str) -> list[str]:
    """The variables that are given back or made together with this one."""
    function = function_of(statement)
    pairs = [elements(one) for one in returned(function)]
    pairs += [elements(target) for target, _ in stores(function)]
    pairs += [
        elements(one.targets[0]) for one in within(function, ast.Assign) if one is not statement
    ]
    for parts in pairs:
        words = [one.id for one in parts if isinstance(one, ast.Name)]
        if name in words and len(words) == 2:
            return [one for one in words if one != name]
    return []


def _for_partner(editor: SourceEditor, statement: ast.Assign, name: str, partner: str) -> None:
    index = file_of(statement)
    whole = spot_of(statement)
    pieces = []
    at = whole.start
    found = [one for one in within(statement, ast.Name) if one.id == name]
    for one in sorted(found, key=lambda one: spot_of(one).start):
        spot = spot_of(one)
        pieces += [index.text[at : spot.start], partner]
        at = spot.end
    editor.after(statement, "".join([*pieces, index.text[at : whole.end]]))


def _same_seed(evidence: Evidence, call: ast.Call) -> Fixes:
    """Two splits take the seed of the first."""
    if not is_call(call, "train_test_split"):
        return ()
    others = [one for one in calls_in(function_of(call), "train_test_split") if one is not call]
    for other in others:
        seed = keyword(other, "random_state")
        own = keyword(call, "random_state")
        if seed is not None and own is None:
            return edit(
                evidence,
                "split both with one seed",
                SourceEditor.set_argument,
                call,
                "random_state",
                code_of(seed),
            )
        if seed is not None and own is not None and not same(seed, own):
            return edit(evidence, "split both with one seed", replace, own, code_of(seed))
    return ()


def _loaders_alike(evidence: Evidence, call: ast.Call) -> Fixes:
    """Two loaders that are read side by side draw from generators of one seed."""
    loaders = [value_of(one) for one in call.args] if is_call(call, "zip") else []
    made = [one for one in loaders if is_call(one, "DataLoader")]
    if len(made) != 2 or any(keyword(one, "generator", "sampler") for one in made):
        return ()
    return edit(evidence, "draw the order of both loaders from one seed", _seeded, made)


def _seeded(editor: SourceEditor, loaders: list[ast.Call]) -> None:
    for one in loaders:
        name = editor.name_for("torch.Generator", one)
        editor.set_argument(one, "generator", f"{name}().manual_seed(0)")


def _repeated_alike(evidence: Evidence, call: ast.Call) -> Fixes:
    """Labels are repeated copy after copy, as the rows are joined; a diagonal is named in order."""
    if is_call(call, "repeat_interleave") and owner_of(call) is not None and len(call.args) == 1:
        return edit(evidence, "repeat the labels copy by copy", _repeat, call)
    return ()


def _repeat(editor: SourceEditor, call: ast.Call) -> None:
    spot = spot_of(call.func)
    word = called(call)
    editor.replace(Span(spot.end - len(word), spot.end, spot.file), "repeat")
