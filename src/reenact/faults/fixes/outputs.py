"""Outputs, targets and losses that do not meet: shapes, dimensions, signs, reductions."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from reenact.errors import NotChangeable
from reenact.faults import Evidence, Place
from reenact.faults.fixes.drafting import (
    Fixes,
    behind,
    code_of,
    edit,
    in_front,
    nodes_at,
    offered,
    reading_of,
    refused,
    replace,
    statement_at,
    with_method,
)
from reenact.program.edit.source_editor import SourceEditor
from reenact.program.flow.constants import constant_of
from reenact.program.flow.ends import spot_of
from reenact.program.flow.uses import reaches, value_of
from reenact.program.syntax.calls import argument, keyword
from reenact.program.syntax.excerpt import excerpt
from reenact.program.syntax.pieces import (
    called,
    file_of,
    is_call,
    is_minus,
    is_sum,
    owner_of,
    place_of,
    within,
)
from reenact.program.syntax.source import Span
from reenact.program.training.purpose import Purposes
from reenact.program.training.roles import is_loss_call, losses

Shape = tuple[int, ...]


def align_target(evidence: Evidence, place: Place | None, output: Shape, target: Shape) -> Fixes:
    """The rows of output and target get one shape: the target follows the output."""
    for call in nodes_at(evidence, place, ast.Call):
        if is_loss_call(call) and len(call.args) >= 2:
            method = ".unsqueeze(1)" if len(output) > len(target) else ".squeeze(1)"
            return _aligned(evidence, call.args[1], method)
    return _aligned_by_hand(evidence, place, output, target)


def _aligned(evidence: Evidence, node: ast.expr, method: str) -> Fixes:
    return edit(
        evidence,
        f"give {excerpt(node)} the shape of what it is compared with",
        with_method,
        node,
        method,
    )


def _aligned_by_hand(
    evidence: Evidence, place: Place | None, output: Shape, target: Shape
) -> Fixes:
    """In a difference or product the column loses its axis of one."""
    statement = statement_at(evidence, place)
    if statement is None:
        return ()
    sums = [
        one
        for one in within(statement, ast.BinOp)
        if isinstance(one.op, ast.Sub | ast.Mult) and constant_of(one.right) is None
    ]
    keras = evidence.framework == "keras"
    method = "[:, 0]" if keras else ".squeeze(-1)"
    found: list[Fixes] = []
    for one in sums:
        first, second = one.left, one.right
        if _asks_model(evidence, second) and not _asks_model(evidence, first):
            first, second = second, first
        column, other = (first, second) if len(output) > len(target) else (second, first)
        found += [_aligned(evidence, column, method), _aligned(evidence, other, method)]
    return offered(*found)


def _asks_model(evidence: Evidence, node: ast.expr) -> bool:
    """Whether an expression is what a model gives."""
    reading = reading_of(evidence)
    if reading is None:
        return False
    purposes = Purposes(reading.loops)
    made = [node, *(value_of(one) for one in within(node, ast.Name))]
    return any(purposes.is_model(call.func) for one in made for call in within(one, ast.Call))


AXES = ("dim", "axis", "axes", "keepdim")


def other_dimension(evidence: Evidence, place: Place | None, axes: int) -> Fixes:
    """A softmax, a mean or a norm is taken over the last of its axes: `axes` of them."""
    for call in nodes_at(evidence, place, ast.Call):
        given = _axis_given(call)
        known = constant_of(given)
        written = given is not None and (known is not None or is_minus(given))
        if given is None or not written:
            continue
        text = "1" if axes == 2 else "-1"
        return edit(
            evidence,
            f"take {called(call)} over axis {text}",
            replace,
            given,
            text,
        )
    return refused("The axis is not written where the values are reduced.")


def _axis_given(call: ast.Call) -> ast.expr | None:
    """The argument that says the axis: by its name, else the last number of a call."""
    named = keyword(call, "dim", "axis")
    if named is not None:
        return named
    numbers = [one for one in call.args if _is_whole(one)]
    return numbers[-1] if numbers else None


def _is_whole(node: ast.expr) -> bool:
    inner = node.operand if is_minus(node) else node
    return isinstance(inner, ast.Constant) and type(inner.value) is int


def swap_axes(call: ast.Call, order: list[int] | None, evidence: Evidence) -> Fixes:
    """A reshape that is to swap axes: a permutation, or for the heads of an attention a cut and a
    turn.
    """
    tensor = owner_of(call)
    if tensor is None:
        return ()
    if order is not None:
        inner = ", ".join(map(str, order))
        later = ".contiguous()" if _viewed_later(call) else ""
        return edit(
            evidence,
            f"swap the axes with permute({inner})",
            behind,
            call,
            tensor,
            f".permute({inner}){later}",
        )
    return _heads(evidence, call, tensor)


def _heads(evidence: Evidence, call: ast.Call, tensor: ast.expr) -> Fixes:
    given = call.args[0] if len(call.args) == 1 else None
    sizes = given.elts if isinstance(given, ast.Tuple) else call.args
    if len(sizes) == 4:
        # rows, heads, tokens, features: cut from the features, then turned.
        texts = [code_of(sizes[place]) for place in (0, 2, 1, 3)]
        return edit(
            evidence,
            "cut the heads from the features, and turn them before the tokens",
            behind,
            call,
            tensor,
            f".{called(call)}({', '.join(texts)}).transpose(1, 2)",
        )
    return edit(
        evidence,
        "turn the tokens before the heads again, and join the heads",
        behind,
        call,
        tensor,
        f".transpose(1, 2).reshape({', '.join(code_of(size) for size in sizes)})",
    )


def _viewed_later(call: ast.Call) -> bool:
    return any(
        is_call(one, "view") and one.lineno > call.lineno
        for one in within(file_of(call).tree, ast.Call)
    )


def turn_sign(evidence: Evidence, place: Place | None) -> Fixes:
    """The term of a loss at a place gets the other sign."""
    for node in _exactly(evidence, place):
        return edit(
            evidence,
            f"turn the sign of {excerpt(node)}",
            _turned,
            node,
        )
    return ()


def turn_term(evidence: Evidence, place: Place | None) -> Fixes:
    """The term of a loss that is made of what a line computes gets the other sign: of a sum the one
    side that it reaches, of a loss with one term the whole.
    """
    found: list[Fixes] = []
    for index in evidence.files:
        made = [one for one in nodes_at(evidence, place, ast.expr) if file_of(one) is index]
        sums = [one for one in losses(index) if is_sum(one, ast.Add, ast.Sub)]
        for one in sums:
            sides = [side for side in (one.left, one.right) if _reaches(made, side)]
            if len(sides) == 1:
                found.append(_turn(evidence, sides[0]))
        whole = [one for one in losses(index) if not isinstance(one, ast.Name)]
        if not sums and whole and _reaches(made, whole[0]):
            found.append(_turn(evidence, whole[0]))
    return offered(
        *found,
        turn_sign(evidence, place),
        refused("Which term of the loss has the wrong sign is not seen at one line."),
    )


def _reaches(made: Sequence[ast.expr], end: ast.expr) -> bool:
    return any(reaches(one, [end]) for one in made)


def _turn(evidence: Evidence, node: ast.expr) -> Fixes:
    return edit(evidence, f"turn the sign of {excerpt(node)}", _turned, node)


def _exactly(evidence: Evidence, place: Place | None) -> list[ast.expr]:
    """The largest expression that is at a place."""
    if place is None:
        return []
    found = [one for one in nodes_at(evidence, place, ast.expr) if place_of(one) == place]
    return found[:1]


def _turned(editor: SourceEditor, node: ast.expr) -> None:
    index = file_of(node)
    parent = index.parents.get(node)
    if is_minus(node):
        in_front(editor, node, node.operand, "")
        return
    if is_sum(parent, ast.Add, ast.Sub) and parent.right is node:
        _other_operator(editor, parent)
        return
    if isinstance(parent, ast.AugAssign) and isinstance(parent.op, ast.Add | ast.Sub):
        start, end = spot_of(parent.target).end, spot_of(parent.value).start
        text = index.text[start:end]
        other = text.replace("+=", "-=") if "+=" in text else text.replace("-=", "+=")
        editor.replace(Span(start, end, index.path), other)
        return
    if isinstance(node, ast.BinOp | ast.IfExp | ast.BoolOp | ast.Lambda):
        editor.wrap(node, *(("-", "") if _leads_to_call(node) else ("-(", ")")))
    else:
        editor.wrap(node, "-", "")


def _leads_to_call(node: ast.expr) -> bool:
    """Whether a minus before it is of the whole: a product or a quotient."""
    return is_sum(node, ast.Mult, ast.Div) and _bracketless(node)


def _bracketless(node: ast.BinOp) -> bool:
    parent = file_of(node).parents.get(node)
    return not isinstance(parent, ast.Attribute | ast.Subscript | ast.Call)


def _other_operator(editor: SourceEditor, node: ast.BinOp) -> None:
    """`a + b` becomes `a - b`, and the other way round."""
    index = file_of(node)
    start, end = spot_of(node.left).end, spot_of(node.right).start
    text = index.text[start:end]
    old, new = ("+", "-") if isinstance(node.op, ast.Add) else ("-", "+")
    if text.count(old) != 1:
        raise NotChangeable("A comment stands between the terms of the sum.")
    editor.replace(Span(start, end, index.path), text.replace(old, new))


def lower_the_loss(evidence: Evidence) -> Fixes:
    """What goes backward is the loss, not its negative."""
    reading = reading_of(evidence)
    if reading is None:
        return ()
    found: list[Fixes] = []
    for sent in reading.loops.backwards:
        value = sent.args[0] if sent.args else owner_of(sent)
        for minus in _minuses(value):
            found.append(
                edit(
                    evidence,
                    f"send {excerpt(minus.operand)} backward, not its negative",
                    in_front,
                    minus,
                    minus.operand,
                    "",
                )
            )
    return offered(*found)


def _minuses(value: ast.expr | None) -> list[ast.UnaryOp]:
    if value is None:
        return []
    made = value_of(value)
    pieces = [value, made] if made is not value else [value]
    return [one for piece in pieces for one in within(piece, ast.UnaryOp) if is_minus(one)]


def real_for_generator(evidence: Evidence, place: Place | None) -> Fixes:
    """The generator asks for the answer of real rows: ones, not zeros."""
    others = {"zeros": "ones", "zeros_like": "ones_like", "new_zeros": "new_ones"}
    for loss in _exactly(evidence, place):
        target = loss.args[1] if isinstance(loss, ast.Call) and len(loss.args) == 2 else None
        made = target if isinstance(target, ast.Call) else None
        if made is not None and called(made) in others:
            name = others[called(made)]
            return edit(
                evidence,
                "ask the discriminator for the answer of real rows",
                _renamed,
                made,
                name,
            )
        if isinstance(target, ast.Name):
            return edit(
                evidence,
                "ask the discriminator for the answer of real rows",
                _ones_like,
                target,
            )
    return ()


def _renamed(editor: SourceEditor, call: ast.Call, name: str) -> None:
    spot = spot_of(call.func)
    word = called(call)
    editor.replace(Span(spot.end - len(word), spot.end, spot.file), name)


def _ones_like(editor: SourceEditor, target: ast.expr) -> None:
    name = editor.name_for("torch.ones_like", target)
    editor.replace(spot_of(target), f"{name}({editor.text(target)})")


def mean_over_rows(evidence: Evidence) -> Fixes:
    """A loss takes the mean over the rows of a batch, not their sum."""
    found: list[Fixes] = []
    for index in evidence.files:
        for call in index.calls:
            given = keyword(call, "reduction")
            known = constant_of(given)
            if given is not None and known is not None and known.value == "sum":
                found.append(_without_argument(evidence, call, given))
    return offered(*found)


def _without_argument(evidence: Evidence, call: ast.Call, given: ast.expr) -> Fixes:
    keras = evidence.framework == "keras"
    if keras or not isinstance(given, ast.Constant):
        text = '"sum_over_batch_size"' if keras else '"mean"'
        return edit(evidence, "take the mean over the rows", replace, given, text)
    return edit(
        evidence,
        f"let {called(call)} take the mean over the rows",
        SourceEditor.drop_argument,
        call,
        given,
    )


def ignore_padding(evidence: Evidence, value: int) -> Fixes:
    """The loss of tokens leaves out what rows are filled up with."""
    found: list[Fixes] = []
    for index in evidence.files:
        for call in index.calls:
            name = called(call)
            takes = name in ("CrossEntropyLoss", "NLLLoss", "cross_entropy", "nll_loss")
            if takes and argument(call, None, "ignore_index") is None:
                found.append(
                    edit(
                        evidence,
                        f"leave the padding {value} out of {name}",
                        SourceEditor.set_argument,
                        call,
                        "ignore_index",
                        str(value),
                    )
                )
    return offered(*found)


def logarithms_for_divergence(evidence: Evidence, place: Place | None) -> Fixes:
    """`kl_div` is given logarithms: `log_softmax` in the place of `softmax`."""
    for call in nodes_at(evidence, place, ast.Call):
        given = value_of(call.args[0]) if call.args else None
        if is_call(given, "softmax"):
            return edit(
                evidence,
                "give the divergence the logarithm of the probabilities",
                _renamed,
                given,
                "log_softmax",
            )
    return ()
