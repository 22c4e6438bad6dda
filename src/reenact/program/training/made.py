"""From where a fault shows to where it is written: the loss behind `backward()`, the mask after its use, the
step that cuts a gradient off."""

import ast
from collections.abc import Iterator, Sequence

from reenact.program.flow.constants import constant_of
from reenact.program.flow.uses import assigned, stores
from reenact.program.syntax.index import FileIndex
from reenact.program.syntax.lines import calls, calls_at, first_place, is_in, nodes
from reenact.program.syntax.pieces import (
    NAMES,
    Node,
    called,
    calls_in,
    elements,
    file_of,
    function_of,
    is_call,
    is_constant,
    is_sum,
    keyword,
    last_word,
    names,
    owner_of,
    place_of,
    returned,
    within,
)
from reenact.types import Place

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


def loss_made(files: Sequence[FileIndex], place: Place | None) -> Place | None:
    """Where the value is computed that this line sends backward: in the program's own function, if
    it is one of these that gives it. The line itself where it sends nothing backward.
    """
    for call in calls_at(files, place):
        sent = _sent_backward(call)
        if place is not None and call.lineno == place.line and sent is not None:
            return place_of(_computed(files, sent, ROUNDS))
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


def _computed(files: Sequence[FileIndex], sent: ast.expr, rounds: int) -> Node:
    """The last line that computes a value: a division by a number of steps and a copy hand it
    on.
    """
    value = _given(sent) if isinstance(sent, ast.Name) else sent
    if value is None or not rounds:
        return value or sent
    if is_sum(value, ast.Div) and isinstance(value.left, ast.Name):
        return _computed(files, value.left, rounds - 1)
    # The one function or method of the program with this name.
    own = [one for one in nodes(files, ast.FunctionDef) if one.name == called(value)]
    answers = returned(own[0]) if len(own) == 1 else []
    if len(answers) == 1:
        return _computed(files, (elements(answers[0]) or answers)[0], rounds - 1)
    return value


def _given(name: ast.Name) -> ast.expr | None:
    """What a variable was last given before this use, in the same function, by itself or as a part."""
    plain = (ast.Assign, ast.AnnAssign)
    lines = [one for one in within(function_of(name), ast.stmt) if isinstance(one, plain)]
    before = [one for one in lines if (one.end_lineno or 0) < name.lineno]
    stored = [pair for one in before for pair in assigned(one)]
    values = [value for target, value in stored if name.id in names(target)]
    return max(values, key=lambda value: value.lineno, default=None)


def mask_made(files: Sequence[FileIndex], place: Place | None) -> Place | None:
    """Where the mask of tokens is made that this line uses; the line itself where it makes its
    own.
    """
    for index in files:
        read = (one for one in within(index.tree, ast.expr) if isinstance(one, NAMES))
        used = [one for one in read if is_in(place, one)]
        if any(is_call(index.parents.get(one), *SHAPED) for one in used):
            return place
        for value in (value for one in used for value in _stored_as(index, last_word(one))):
            if calls_in(value, *SHAPED):
                return place_of(value)
    return place


def _stored_as(index: FileIndex, name: str) -> Iterator[ast.expr]:
    """What a variable or a field of this name is given in the file, as a buffer too, and what that
    in turn is given in its function.
    """
    kept = [call.args for call in calls_in(index.tree, "register_buffer") if len(call.args) > 1]
    values = [given[1] for given in kept if is_constant(constant_of(given[0]), name)]
    values += [value for target, value in stores(index.tree) if last_word(target) == name]
    for value in values:
        yield value
        yield from filter(None, map(_given, within(value, ast.Name)))


def axes_made(files: Sequence[FileIndex], module: str, forward: Place | None) -> Place | None:
    """Where a module of this class is made without `batch_first` that moved rows first, or where
    its `forward` turns the first axis; none where the text does not tell.
    """
    makers = SEQUENCES.get(module, ())
    made = [call for call in calls(files) if called(call) in makers]
    made = [call for call in made if keyword(call, "batch_first") is None]
    if len(made) == 1:
        return place_of(made[0])
    if makers:
        return None
    return first_place(call for call in calls_at(files, forward, *TURNS) if _turns_first_axis(call))


def _turns_first_axis(call: ast.Call) -> bool:
    """Whether the batch goes elsewhere: `x.transpose(0, 2)`, `x.permute(2, 0, 1)`."""
    given = map(constant_of, call.args)
    numbers = [number.value for number in given if number is not None]
    return bool(numbers) and (numbers[0] != 0 if called(call) == "permute" else 0 in numbers)


def asked_for_at(files: Sequence[FileIndex], place: Place | None) -> Place | None:
    """Where the function is called, once, that gives back what is made here; else the place
    itself.
    """
    for call in calls_at(files, place):
        owner = function_of(call)
        given_back = isinstance(file_of(call).parents.get(call), ast.Return)
        if given_back and place is not None and call.lineno == place.line:
            asked = list(calls(files, getattr(owner, "name", "")))
            if len(asked) == 1:
                return place_of(asked[0])
            return place
    return place


def bend_made(files: Sequence[FileIndex], layer: Place | None, bend: str) -> Place | None:
    """The one call of a function that activates, such as `torch.softmax`, in the file of a layer."""
    if layer is None:
        return None
    found = [one for one in calls(files, bend) if file_of(one).source.path == layer.file]
    return place_of(found[0]) if len(found) == 1 else None
