"""From where a fault shows to where it is written: the loss behind `backward()`, the mask behind its use, the
step that cuts a gradient off."""

import ast
from collections.abc import Iterator

from reenact.faults import Evidence, Place
from reenact.faults.facts.flow import assigned
from reenact.faults.facts.lines import (
    Node,
    calls,
    calls_at,
    first_place,
    function_of,
    indexes,
    nodes,
    place_in,
)
from reenact.faults.facts.parts import (
    called,
    is_call,
    is_sum,
    last_word,
    options,
    owner_of,
    within,
)
from reenact.probe.trace import Mover
from reenact.program.syntax.index import FileIndex

ROUNDS = 4
"""Functions that are followed in a row."""
SHAPED = ("tril", "triu")
"""What makes a mask of who comes before whom."""
SEQUENCES = {
    "MultiheadAttention": (
        "MultiheadAttention",
        "TransformerEncoderLayer",
        "TransformerDecoderLayer",
    ),
    **{name: (name,) for name in ("GRU", "LSTM", "RNN")},
}
"""Modules of PyTorch that take the batch for the second axis by default, and what makes them."""
TURNS = ("transpose", "permute", "swapaxes", "swapdims", "movedim")


def loss_made(evidence: Evidence, place: Place | None) -> Place | None:
    """Where the value is computed that this line sends backward: in the program's own function, if
    it is one of these that gives it. The line itself where it sends nothing backward.
    """
    for index, call in calls_at(evidence, place):
        sent = _sent_backward(call) if place is not None and call.lineno == place.line else None
        if sent is not None:
            return place_in(*_computed(evidence, index, sent, ROUNDS))
    return place


def _sent_backward(call: ast.Call) -> ast.expr | None:
    """`loss` of `loss.backward()`, `accelerator.backward(loss)` and
    `scaler.scale(loss).backward()`.
    """
    if called(call) not in ("backward", "manual_backward"):
        return None
    sent = call.args[0] if call.args else owner_of(call)
    while is_call(sent, "scale") and sent.args:
        sent = sent.args[0]
    return sent


def _computed(
    evidence: Evidence, index: FileIndex, sent: ast.expr, rounds: int
) -> tuple[FileIndex, Node]:
    """The last line that computes a value: a division by a number of steps and a copy hand it
    on.
    """
    value = _given(index, sent) if isinstance(sent, ast.Name) else sent
    if value is None:
        return index, sent
    if is_sum(value, ast.Div) and isinstance(value.left, ast.Name):
        if rounds:
            return _computed(evidence, index, value.left, rounds - 1)
        return (index, value.left)
    # The one function or method of the program with this name.
    own = [
        one for one in nodes(evidence, ast.FunctionDef) if rounds and one[1].name == called(value)
    ]
    for where, function in own if len(own) == 1 else ():
        returned = [node.value for node in within(function, ast.Return) if node.value is not None]
        if len(returned) == 1:
            first = returned[0].elts[0] if isinstance(returned[0], ast.Tuple) else returned[0]
            return _computed(evidence, where, first, rounds - 1)
    return index, value


def _given(index: FileIndex, name: ast.Name) -> ast.expr | None:
    """What a variable was last given before this use, in the same function."""
    lines = [
        one
        for one in within(function_of(index, name), ast.stmt)
        if (one.end_lineno or 0) < name.lineno
    ]
    stored = [
        pair
        for one in lines
        if isinstance(one, ast.Assign | ast.AnnAssign)
        for pair in assigned(one)
    ]
    values = [
        value
        for target, value in stored
        if any(one.id == name.id for one in within(target, ast.Name))
    ]
    return max(values, key=lambda value: value.lineno, default=None)


def mask_made(evidence: Evidence, place: Place | None) -> Place | None:
    """Where the mask of tokens is made that this line uses; the line itself where it makes its
    own.
    """
    for index in indexes(evidence) if place is not None else ():
        lines = range(place.line, max(place.line, place.end_line) + 1) if place is not None else ()
        here = place is not None and index.source.path == place.file
        read = [
            node
            for node in within(index.tree, ast.AST)
            if isinstance(node, ast.Name | ast.Attribute)
        ]
        used = [node for node in read if here and node.lineno in lines]
        if any(
            is_call(
                index.parents.get(node),
                *SHAPED,
            )
            for node in used
        ):
            return place
        for value in (value for node in used for value in _stored_as(index, last_word(node))):
            if any(is_call(one, *SHAPED) for one in ast.walk(value)):
                return place_in(index, value)
    return place


def _stored_as(index: FileIndex, name: str) -> Iterator[ast.expr]:
    """What a variable or a field of this name is given in the file, as a buffer too, and what that
    in turn is given in its function.
    """
    for node in within(index.tree, ast.AST):
        values = [value for target, value in assigned(node) if last_word(target) == name]
        if is_call(node, "register_buffer") and len(node.args) > 1:
            first = node.args[0]
            values += (
                [node.args[1]] if isinstance(first, ast.Constant) and first.value == name else []
            )
        for value in values:
            yield value
            yield from filter(
                None,
                (_given(index, one) for one in within(value, ast.Name)),
            )


def axes_made(evidence: Evidence, mover: Mover | None) -> Place | None:
    """Where a module is made without `batch_first` that moved rows first, or where its `forward`
    turns the first axis; none where the text does not tell.
    """
    if mover is None:
        return None
    makers = SEQUENCES.get(mover.type, ())
    making = [one for one in calls(evidence) if called(one[1]) in makers]
    made = [one for one in making if "batch_first" not in options(one[1])]
    if len(made) == 1:
        return first_place(made)
    if makers:
        return None
    turned = (one for one in calls_at(evidence, mover.forward) if _turns_first_axis(one[1]))
    return first_place(turned)


def _turns_first_axis(call: ast.Call) -> bool:
    """Whether the batch goes elsewhere: `x.transpose(0, 2)`, `x.permute(2, 0, 1)`."""
    given = call.args if called(call) in TURNS else []
    numbers = [arg.value for arg in given if isinstance(arg, ast.Constant)]
    return bool(numbers) and (numbers[0] != 0 if called(call) == "permute" else 0 in numbers)


def asked_for_at(evidence: Evidence, place: Place | None) -> Place | None:
    """Where the function is called, once, that gives back what is made here; else the place
    itself.
    """
    for index, call in calls_at(evidence, place):
        owner = function_of(index, call)
        given_back = isinstance(index.parents.get(call), ast.Return) and isinstance(
            owner, ast.FunctionDef
        )
        if given_back and call.lineno == getattr(place, "line", 0):
            asked = list(calls(evidence, getattr(owner, "name", "")))
            return first_place(asked) if len(asked) == 1 else place
    return place


def bend_made(
    evidence: Evidence,
    layer: Place | None,
    bend: str,
) -> Place | None:
    """The one call of a function that bends, such as `torch.softmax`, in the file of a layer."""
    found = [
        one
        for one in calls(evidence, bend)
        if layer is not None and one[0].source.path == layer.file
    ]
    return first_place(found) if len(found) == 1 else None
