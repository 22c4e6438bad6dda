"""From where a fault shows to where it is written: the loss behind `backward()`, the mask behind its use, the
step that cuts a gradient off."""

import ast
from collections.abc import Iterator

from reenact.probe.trace import Mover
from reenact.program.read.index import FileIndex
from reenact.rules import Evidence, Place
from reenact.rules.own._flow import assigned
from reenact.rules.own._lines import called, function_of, indexes, place_in

ROUNDS = 4
"""Functions that are followed in a row."""
SHAPED = frozenset({"tril", "triu"})
"""What makes a mask of who comes before whom."""
SEQUENCES = {
    "MultiheadAttention": ("MultiheadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer"),
    **{name: (name,) for name in ("GRU", "LSTM", "RNN")},
}
"""Modules of PyTorch that take the batch for the second axis by default, and what makes them."""
TURNS = ("transpose", "permute", "swapaxes", "swapdims", "movedim")
Found = tuple[FileIndex, "ast.expr | ast.stmt"]


def loss_made(evidence: Evidence, place: Place | None) -> Place | None:
    """Where the value is computed that this line sends backward: in the program's own function, if it is one
    of these that gives it. The line itself where it sends nothing backward."""
    for index in indexes(evidence):
        for call in index.calls:
            if place is not None and index.source.path == place.file and call.lineno == place.line:
                sent = _sent_backward(call)
                if sent is not None:
                    return place_in(*_computed(evidence, index, sent, ROUNDS))
    return place


def _sent_backward(call: ast.Call) -> ast.expr | None:
    """`loss` of `loss.backward()`, `accelerator.backward(loss)` and `scaler.scale(loss).backward()`."""
    if called(call) not in ("backward", "manual_backward"):
        return None
    sent = call.args[0] if call.args else getattr(call.func, "value", None)
    while isinstance(sent, ast.Call) and called(sent) == "scale" and sent.args:
        sent = sent.args[0]
    return sent


def _computed(evidence: Evidence, index: FileIndex, sent: ast.expr, rounds: int) -> Found:
    """The last line that computes a value: a division by a number of steps, a copy and a sum on the way hand
    it on."""
    value = sent
    if isinstance(sent, ast.Name):
        given = _given(index, sent)
        if given is None:
            return index, sent
        value = given
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div) and isinstance(value.left, ast.Name):
        value = value.left
        if rounds:
            return _computed(evidence, index, value, rounds - 1)
    if isinstance(value, ast.Call) and rounds:
        for where, function in own_functions(evidence, called(value)):
            returned = [
                node.value
                for node in ast.walk(function)
                if isinstance(node, ast.Return) and node.value is not None
            ]
            if len(returned) == 1:
                first = returned[0].elts[0] if isinstance(returned[0], ast.Tuple) else returned[0]
                return _computed(evidence, where, first, rounds - 1)
    return index, value


def own_functions(evidence: Evidence, name: str) -> Iterator[tuple[FileIndex, ast.FunctionDef]]:
    """The one function or method of the program with this name; none where several have it."""
    found = [
        (index, node)
        for index in indexes(evidence)
        for node in ast.walk(index.tree)
        if isinstance(node, ast.FunctionDef) and node.name == name
    ]
    yield from found if len(found) == 1 else ()


def _given(index: FileIndex, name: ast.Name) -> ast.expr | None:
    """What a variable was last given before this use, in the same function."""
    owner = function_of(index, name)
    values = [
        value
        for node in ast.walk(owner)
        if isinstance(node, ast.Assign | ast.AnnAssign) and (node.end_lineno or 0) < name.lineno
        for target, value in assigned(node)
        for one in ast.walk(target)
        if isinstance(one, ast.Name) and one.id == name.id
    ]
    return max(values, key=lambda value: value.lineno, default=None)


def mask_made(evidence: Evidence, place: Place | None) -> Place | None:
    """Where the mask of tokens is made that this line uses; the line itself where it makes its own."""
    for index in indexes(evidence):
        used = [
            node
            for node in ast.walk(index.tree)
            if isinstance(node, ast.Name | ast.Attribute)
            and place is not None
            and index.source.path == place.file
            and place.line <= node.lineno <= max(place.line, place.end_line)
        ]
        if used and any(_shapes(node, index) for node in used):
            return place
        for node in used:
            name = node.attr if isinstance(node, ast.Attribute) else node.id
            for value in _stored_as(index, name):
                if any(isinstance(one, ast.Call) and called(one) in SHAPED for one in ast.walk(value)):
                    return place_in(index, value)
    return place


def _shapes(node: ast.expr, index: FileIndex) -> bool:
    call = index.parents.get(node)
    return isinstance(call, ast.Call) and called(call) in SHAPED


def _stored_as(index: FileIndex, name: str) -> Iterator[ast.expr]:
    """What a variable or a field of this name is given in the file, as a buffer too, and what that in turn
    is given in its function."""
    for node in ast.walk(index.tree):
        values = [value for target, value in assigned(node) if ast.unparse(target).rpartition(".")[2] == name]
        if isinstance(node, ast.Call) and called(node) == "register_buffer" and len(node.args) > 1:
            first = node.args[0]
            values += [node.args[1]] if isinstance(first, ast.Constant) and first.value == name else []
        for value in values:
            yield value
            for one in ast.walk(value):
                given = _given(index, one) if isinstance(one, ast.Name) else None
                if given is not None:
                    yield given


def axes_made(evidence: Evidence, mover: Mover | None) -> Place | None:
    """Where a module is made without `batch_first` that moved rows first, or where its `forward` turns the
    first axis; none where the text does not tell."""
    if mover is None:
        return None
    made = [
        place_in(index, call)
        for index in indexes(evidence)
        for call in index.calls
        if called(call) in SEQUENCES.get(mover.type, ())
        and not any(word.arg == "batch_first" for word in call.keywords)
    ]
    turned = [
        place_in(index, call)
        for index in indexes(evidence)
        for call in index.calls
        if mover.forward is not None
        and mover.type not in SEQUENCES
        and index.source.path == mover.forward.file
        and mover.forward.line <= call.lineno <= mover.forward.end_line
        and called(call) in TURNS
        and _names_first_axis(call)
    ]
    return next(iter(made if len(made) == 1 else turned), None)


def _names_first_axis(call: ast.Call) -> bool:
    """Whether the batch goes elsewhere: `x.transpose(0, 2)`, `x.permute(2, 0, 1)`."""
    numbers = [arg.value for arg in call.args if isinstance(arg, ast.Constant)]
    return bool(numbers) and (numbers[0] != 0 if called(call) == "permute" else 0 in numbers)


def asked_for_at(evidence: Evidence, place: Place | None) -> Place | None:
    """Where the function is called, once, that gives back what is made here; else the place itself."""
    for index in indexes(evidence):
        for call in index.calls:
            if place is None or (index.source.path, call.lineno) != (place.file, place.line):
                continue
            owner, statement = function_of(index, call), index.parents.get(call)
            if isinstance(owner, ast.FunctionDef) and isinstance(statement, ast.Return):
                asked = [
                    place_in(other, one)
                    for other in indexes(evidence)
                    for one in other.calls
                    if called(one) == owner.name
                ]
                return asked[0] if len(asked) == 1 else place
    return place


def bend_made(evidence: Evidence, within: Place | None, bend: str) -> Place | None:
    """The one call of a function that bends, such as `torch.softmax`, in the file of a layer."""
    found = [
        place_in(index, call)
        for index in indexes(evidence)
        for call in index.calls
        if within is not None and index.source.path == within.file and called(call) == bend
    ]
    return found[0] if len(found) == 1 else None
