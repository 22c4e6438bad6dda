"""Sequences: shifts, the axis of the batch, the end of an episode."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from reenact.faults import Evidence, Place
from reenact.faults.fixes.drafting import (
    Fixes,
    behind,
    code_of,
    edit,
    nodes_at,
    offered,
    refused,
    replace,
)
from reenact.faults.fixes.outputs import other_dimension
from reenact.program.edit.source_editor import SourceEditor
from reenact.program.flow.constants import constant_of
from reenact.program.flow.ends import spot_of
from reenact.program.flow.uses import names_that_reach, objects_of, stores
from reenact.program.syntax.calls import keyword
from reenact.program.syntax.excerpt import excerpt, same
from reenact.program.syntax.pieces import (
    calls_in,
    elements,
    file_of,
    function_of,
    given_as,
    is_call,
    is_constant,
    is_minus,
    is_sum,
    names,
    owner_of,
    within,
)
from reenact.program.training.roles import targets

BATCH_FIRST = (
    "LSTM",
    "GRU",
    "RNN",
    "MultiheadAttention",
    "TransformerEncoderLayer",
    "TransformerDecoderLayer",
    "Transformer",
)
"""Modules of PyTorch that take the batch for the second axis unless they are asked not to."""
REDUCES = (
    "softmax",
    "log_softmax",
    "normalize",
    "mean",
    "sum",
    "max",
    "Softmax",
    "LogSoftmax",
    "cumsum",
)


def shift_once(evidence: Evidence) -> Fixes:
    """The target of a token is the next one: shifts by two become shifts by one, and of two shifts by
    one the one of the data goes, or that of the loss.
    """
    cuts = [cut for index in evidence.files for cut in _cuts(index.tree)]
    twos = [cut for cut in cuts if abs(_bound(cut)) == 2]
    ones = [cut for cut in cuts if abs(_bound(cut)) == 1]
    rolls = [one for index in evidence.files for one in calls_in(index.tree, "roll")]
    labelled = [one for one in ones if _bound(one) == 1 and _is_target(one)]
    return offered(
        edit(evidence, "shift by one token, not by two", _shift_by_one, twos),
        *(_kept_in_place(evidence, one) for one in labelled),
        *(_both_whole(evidence, group) for group in _by_statement(ones)),
        *(_without_roll(evidence, one) for one in rolls),
    )


def _cuts(tree: ast.AST) -> list[ast.Subscript]:
    """`x[:, 1:]`, `x[:-1]` and the like, of one or two places on the last axis that is cut."""
    return [one for one in within(tree, ast.Subscript) if _bound(one) in (1, 2, -1, -2)]


def _slice_of(cut: ast.Subscript) -> ast.Slice | None:
    parts = elements(cut.slice) or [cut.slice]
    bounded = [one for one in parts if isinstance(one, ast.Slice) and (one.lower or one.upper)]
    return bounded[0] if len(bounded) == 1 else None


def _bound(cut: ast.Subscript) -> int:
    """2 of `x[2:]`, -2 of `x[:-2]`; 0 for any other part."""
    part = _slice_of(cut)
    if part is None or part.step is not None or (part.lower and part.upper):
        return 0
    if part.lower is not None:
        known = constant_of(part.lower)
        return known.value if known is not None and isinstance(known.value, int) else 0
    inner = constant_of(part.upper.operand) if is_minus(part.upper) else None
    return -inner.value if inner is not None and isinstance(inner.value, int) else 0


def _shift_by_one(editor: SourceEditor, cuts: Sequence[ast.Subscript]) -> None:
    for cut in cuts:
        part = _slice_of(cut)
        bound = (part.lower or part.upper) if part is not None else None
        if bound is not None:
            editor.replace(spot_of(bound), "1" if _bound(cut) > 0 else "-1")


def _is_target(cut: ast.Subscript) -> bool:
    """Whether what is cut becomes the target of a loss, or the labels that a model is given."""
    index = file_of(cut)
    ends = [*targets(index), *given_as(index.calls, "labels")]
    reached = names_that_reach(index, ends)
    made = [value for target, value in stores(index.tree) if reached & names(target)]
    return any(cut in within(value, ast.Subscript) for value in (*made, *ends))


def _kept_in_place(evidence: Evidence, cut: ast.Subscript) -> Fixes:
    """Labels are the input tokens where the model or the loss shifts them."""
    part = _slice_of(cut)
    if part is None:
        return ()
    return edit(
        evidence,
        f"give {excerpt(cut.value)} unshifted: it is shifted once more later",
        replace,
        part,
        ":-1",
    )


def _by_statement(cuts: Sequence[ast.Subscript]) -> list[list[ast.Subscript]]:
    """Cuts of one function that belong together: what begins later, and what ends earlier."""
    groups: dict[object, list[ast.Subscript]] = {}
    for cut in cuts:
        groups.setdefault(function_of(cut), []).append(cut)
    return [one for one in groups.values() if {_bound(cut) for cut in one} == {1, -1}]


def _both_whole(evidence: Evidence, cuts: Sequence[ast.Subscript]) -> Fixes:
    return edit(evidence, "shift once: without these cuts", _whole, cuts)


def _whole(editor: SourceEditor, cuts: Iterable[ast.Subscript]) -> None:
    for cut in cuts:
        behind(editor, cut, cut.value, "")


def _without_roll(evidence: Evidence, call: ast.Call) -> Fixes:
    owner = owner_of(call)
    rows = call.args[0] if call.args and not _is_shift(call.args[0]) else owner
    if rows is None:
        return ()
    return edit(
        evidence,
        f"give {excerpt(rows)} unshifted: it is shifted once more later",
        _put,
        call,
        rows,
    )


def _is_shift(node: ast.expr) -> bool:
    return constant_of(node) is not None or is_minus(node)


def _put(editor: SourceEditor, node: ast.expr, other: ast.expr) -> None:
    editor.replace(spot_of(node), editor.text(other))


def batch_first(evidence: Evidence, place: Place | None) -> Fixes:
    """A module takes the batch for the first axis; a reduction leaves the axis of the rows alone; what
    swaps the rows away swaps other axes.
    """
    makers = [*nodes_at(evidence, place, ast.Call)]
    every = [call for index in evidence.files for call in index.calls]
    found: list[Fixes] = []
    for call in dict.fromkeys([*makers, *every]):
        if is_call(call, *BATCH_FIRST) and keyword(call, "batch_first") is None:
            found.append(
                edit(
                    evidence,
                    "take the batch for the first axis",
                    SourceEditor.set_argument,
                    call,
                    "batch_first",
                    "True",
                )
            )
    found += [_other_axes(evidence, call) for call in makers if is_call(call, "transpose")]
    found += [_last_state(evidence, call) for call in makers if is_call(call, "view", "reshape")]
    if any(is_call(one, *REDUCES) for one in makers):
        found.insert(0, other_dimension(evidence, place, 3))
    return offered(*found, refused("Which axis is the batch is not seen at this line."))


def _other_axes(evidence: Evidence, call: ast.Call) -> Fixes:
    """`x.transpose(0, 2)` becomes `x.transpose(1, 2)`; `x.transpose(0, 1)` goes."""
    axes = [constant_of(one) for one in call.args]
    numbers = [one.value for one in axes if one is not None]
    if 0 not in numbers or len(numbers) != 2:
        return ()
    owner = owner_of(call)
    other = next((one for one in numbers if one != 0), None)
    if other == 1 and owner is not None:
        return edit(evidence, "leave the rows on the first axis", behind, call, owner, "")
    zero = call.args[numbers.index(0)]
    return edit(evidence, "leave the rows on the first axis", replace, zero, "1")


def _last_state(evidence: Evidence, call: ast.Call) -> Fixes:
    """`h.view(rows, -1)` of the states of a recurrent layer: the layers are their first axis."""
    owner = owner_of(call)
    sizes = call.args
    if owner is None or len(sizes) != 2 or not _is_state(owner):
        return ()
    shape = ", ".join(code_of(one) for one in sizes)
    return edit(
        evidence,
        "join the states of each row",
        behind,
        call,
        owner,
        f".transpose(0, 1).reshape({shape})",
    )


def _is_state(node: ast.expr) -> bool:
    """Whether it is the second result of a recurrent layer."""
    for target, value in stores(function_of(node)):
        parts = elements(target)
        states = [one for part in parts[1:] for one in (elements(part) or [part])]
        made = isinstance(value, ast.Call) and bool(objects_of(value.func, "LSTM", "GRU", "RNN"))
        if made and any(same(one, node) for one in states):
            return True
    return False


def end_of_episode(evidence: Evidence, node: ast.BinOp, ends: Iterable[str]) -> Fixes:
    """No value is added after the last state of an episode."""
    product = next(
        (one for one in (node.right, node.left) if is_sum(one, ast.Mult) and not _is_plain(one)),
        None,
    )
    known = [one for one in ends if _is_known(one, node)]
    if product is None or not known:
        return refused("What says that an episode is over is not at hand where the target is made.")
    found: list[Fixes] = []
    for name in sorted(known):
        for shape in ("", ".unsqueeze(-1)"):
            found.append(
                edit(
                    evidence,
                    f"add no value after the end that {name} notes",
                    SourceEditor.wrap,
                    product,
                    "",
                    f" * (1 - 1.0 * {name}{shape})",
                )
            )
    return offered(*found)


def _is_plain(node: ast.BinOp) -> bool:
    return is_constant(constant_of(node.left)) and is_constant(constant_of(node.right))


def _is_known(name: str, node: ast.expr) -> bool:
    """Whether a variable is bound in the function, before this."""
    function = function_of(node)
    bound = [one for one in within(function, ast.Name) if isinstance(one.ctx, ast.Store)]
    return any(one.id == name and one.lineno <= node.lineno for one in bound)
