"""Axes of tensors in the text: what `view` and `reshape` are asked to swap, and what is multiplied column by
column."""

import ast
from collections.abc import Iterator, Sequence

from reenact.program.flow.constants import constant_of, read_through
from reenact.program.flow.uses import value_of
from reenact.program.syntax.excerpt import same
from reenact.program.syntax.index import FileIndex
from reenact.program.syntax.lines import calls, nodes
from reenact.program.syntax.pieces import (
    called,
    elements,
    function_of,
    is_call,
    is_constant,
    is_sum,
    last_word,
    owner_of,
    within,
)

TURNED = ("T", "t", "mT")
"""What turns a matrix."""


CUTS = ("view", "reshape")


TURNS = ("transpose", "permute", "swapaxes", "movedim", "rearrange", "mT")


def compares_features(files: Sequence[FileIndex]) -> bool:
    """Whether columns are multiplied with columns, `a.T @ b`: a loss of features and not of rows."""
    return any(
        isinstance(node.op, ast.MatMult)
        and (last_word(node.left) in TURNED or _is_turned(node.left))
        for node in nodes(files, ast.BinOp)
    )


def swapped_by_shape(files: Sequence[FileIndex]) -> Iterator[ast.Call]:
    """Calls that give a tensor another shape where its axes are meant to change places."""
    for call in calls(files, *CUTS):
        if _swaps(call) or _heads_apart(call):
            yield call


def _is_turned(node: ast.expr) -> bool:
    """Whether its rows are its columns: `x.T`, `x.t()`."""
    return is_call(node, *TURNED) and not node.args


def _sizes(call: ast.Call) -> list[ast.expr]:
    given = call.args[0] if len(call.args) == 1 else None
    if isinstance(given, ast.Tuple):
        return given.elts
    return call.args


def _swaps(call: ast.Call) -> bool:
    """Whether a tensor is given its own sizes in another order, or heads of an attention before the
    tokens that they are cut from: `x.view(b, c, t)` or `x.view(b, heads, t, c // heads)` for `b, t,
    c = x.shape`.
    """
    tensor = owner_of(call)
    sizes = _sizes(call)
    of_layer = (
        is_call(tensor) and len(tensor.args) == 1 and called(tensor) not in (*TURNS, "contiguous")
    )
    if is_call(tensor) and of_layer:
        tensor = tensor.args[0]
    if tensor is None:
        return False
    names = _unpacked(call, tensor)
    places = [_axis_of(size, tensor, names) for size in sizes]
    straight = list(range(len(sizes)))
    known = [place for place in places if place is not None]
    if len(known) == len(places) > 1 and places != straight and not of_layer:
        return sorted(known) == straight and len(names) in (0, len(sizes))
    if len(names) != 3 or len(sizes) != 4:
        return False
    heads = read_through(sizes[1])
    single = any(is_constant(constant_of(size), 1) for size in (heads, sizes[3]))
    counted = isinstance(heads, ast.UnaryOp)
    apart = places[1] is None and places[3] is None and not single and not counted
    return (places[0], places[2]) == (0, 1) and apart


def order_asked(call: ast.Call) -> list[int] | None:
    """The axes of a tensor in the order that a reshape asks for; none where it cuts one in two."""
    tensor = owner_of(call)
    if tensor is None:
        return None
    sizes = _sizes(call)
    known = [_axis_of(size, tensor, _unpacked(call, tensor)) for size in sizes]
    order = [place for place in known if place is not None]
    return order if sorted(order) == list(range(len(sizes))) else None


def _axis_of(size: ast.expr, tensor: ast.expr, names: list[ast.expr]) -> int | None:
    """Which size of a tensor it is: by its name, as `x.shape[1]` or as `x.size(1)`."""
    match size:
        case ast.Subscript(ast.Attribute(owner, "shape"), axis) | ast.Call(
            ast.Attribute(owner, "size"), [axis]
        ):
            known = constant_of(axis)
            if known is not None and isinstance(known.value, int):
                if same(owner, tensor):
                    return known.value
                return None
    for place, name in enumerate(names):
        if same(name, size):
            return place
    return None


def _unpacked(call: ast.Call, tensor: ast.expr) -> list[ast.expr]:
    """Names that the sizes of a tensor were last given before a call, unless it is another
    tensor by then.
    """
    before = [node for node in within(function_of(call), ast.Assign) if node.lineno < call.lineno]
    stored = [(node, node.targets[0]) for node in before if len(node.targets) == 1]
    made = max(
        (node.lineno for node, target in stored if same(target, tensor)),
        default=0,
    )
    sizes = [(node, elements(target)) for node, target in stored if _is_shape(node.value, tensor)]
    last = [pair for pair in sizes if pair[1]][-1:]
    return last[0][1] if last and made < last[0][0].lineno else []


def _is_shape(node: ast.expr, tensor: ast.expr) -> bool:
    """Whether it is all sizes of a tensor: `x.shape`, `x.size()`."""
    match node:
        case ast.Attribute(owner, "shape") | ast.Call(ast.Attribute(owner, "size"), []):
            return same(owner, tensor)
    return False


def _turns_tokens(call: ast.Call) -> bool:
    """Whether its arguments are those of `transpose(1, 2)`."""
    axes = [constant_of(axis) for axis in call.args]
    return [axis.value if axis is not None else None for axis in axes] == [1, 2]


def _heads_apart(call: ast.Call) -> bool:
    """Whether the heads of an attention are joined while tokens still lie after them: what was
    turned by `transpose(1, 2)` before is not turned back.
    """
    owner = owner_of(call)
    made = value_of(owner) if owner is not None else None
    mixed = is_sum(made, ast.MatMult) or is_call(made, "scaled_dot_product_attention")
    if not mixed or len(_sizes(call)) != 3:
        return False
    return any(
        _turns_tokens(node) and is_call(cut, *CUTS) and len(_sizes(cut)) == 4
        for node in within(function_of(call), ast.Call)
        if node.lineno < call.lineno
        and called(node) == "transpose"
        and (cut := owner_of(node)) is not None
    )
