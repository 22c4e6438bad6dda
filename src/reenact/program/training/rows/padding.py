"""Padding that counts as tokens, as far as the text reports: lengths and masks that are taken of rows after
these were padded; masks that are the wrong way round: PyTorch leaves out what is True in `key_padding_mask`
and `masked_fill`, transformers what is 0 in `attention_mask`."""

import ast
from collections.abc import Iterator, Sequence

from reenact.program.flow.constants import constant_of, read_through
from reenact.program.flow.uses import assigned, number, value_of
from reenact.program.syntax.excerpt import excerpt, same
from reenact.program.syntax.index import FileIndex
from reenact.program.syntax.pieces import (
    LIBRARIES,
    Found,
    all_parts,
    called,
    calls_in,
    file_of,
    flat,
    function_of,
    given_as,
    given_to,
    is_call,
    is_constant,
    is_minus,
    is_sum,
    keyword,
    last_word,
    owner_of,
    scopes,
    within,
)

PADDERS = ("pad_sequence", "pad_sequences")
COUNTS_ONLY = (
    "len",
    "list",
    "max",
    "mean",
    "min",
    "print",
    "set",
    "sorted",
    "sum",
)
"""What looks at lengths without telling tokens from padding by them."""
FORMS = ("tensor", "as_tensor", "array", "asarray", "stack", "LongTensor", "from_numpy")
SET = ("masked_fill", "masked_fill_", "cumsum", "tril", "triu", "tril_", "triu_", "fill_")
KEPT = ("long", "to", "int", "cuda", "contiguous", "astype")
LEAVE_OUT = (
    "key_padding_mask",
    "src_key_padding_mask",
    "tgt_key_padding_mask",
    "memory_key_padding_mask",
)
KEEP = ("attention_mask", "encoder_attention_mask", "decoder_attention_mask")
"""What models of transformers call the mask of their tokens."""
FILLED_UP = ("padding_idx", "padding_value", "ignore_index", "pad_token_id")
"""What PyTorch and transformers call the number that rows are filled up with."""
SAME = (
    "bool",
    "to",
    "unsqueeze",
    "view",
    "reshape",
    "expand",
    "expand_as",
    "contiguous",
    "byte",
    "long",
    "int",
)
"""What is done to a mask without turning it round."""
FLIPS = {
    ast.Lt: ast.Gt,
    ast.Gt: ast.Lt,
    ast.LtE: ast.GtE,
    ast.GtE: ast.LtE,
}
FAR = -1e3
"""A score below this hides what it is given to."""


def pads(node: ast.AST) -> bool:
    """Whether rows are filled up to one length in a function or a file."""
    return bool(calls_in(node, *PADDERS)) or any(map(_fills, within(node, ast.BinOp)))


def knows_filler(index: FileIndex) -> bool:
    """Whether a file pads, or states by what rows are filled up."""
    return pads(index.tree) or bool(given_as(index.calls, *FILLED_UP))


def is_mask(scope: ast.AST, target: ast.expr) -> bool:
    """Whether something is given to a model, or to attention, as its mask."""
    given = given_as(calls_in(scope), *KEEP, *LEAVE_OUT)
    for entry in within(scope, ast.Dict):
        pairs = zip(entry.keys, entry.values, strict=True)
        for key, value in pairs:
            if is_constant(constant_of(key), *KEEP, *LEAVE_OUT):
                given.append(value)
    return any(same(value, target) for value in given)


def padded_lengths(files: Sequence[FileIndex]) -> Found:
    """Where the length of every row is that of the longest, and what says so."""
    for scope in (scope for index in files for scope in scopes(index)):
        padded: list[ast.expr] = []
        for target, value in (pair for one in flat(scope.body) for pair in assigned(one)):
            counted = next((rows for rows in padded if _counts(value, rows)), None)
            if counted is not None and _tells_tokens(scope, target):
                rows = f"{excerpt(counted)}, whose rows are padded already"
                yield value, f"{excerpt(target)} is taken of {rows}: every row counts as full"
            full = next((rows for rows in padded if _full(value, rows)), None)
            if full is not None and is_mask(scope, target) and not _changed(scope, target):
                yield (
                    value,
                    f"{excerpt(target)} is all ones, and rows of {excerpt(full)} are padded",
                )
            filled = _pads(value) or any(same(rows, _passed_on(value)) for rows in padded)
            padded = [rows for rows in padded if not same(rows, target)]
            if filled:
                padded.append(target)


def _pads(value: ast.expr) -> bool:
    fills = isinstance(value, ast.ListComp) and any(map(_fills, within(value.elt, ast.BinOp)))
    return fills or bool(calls_in(value, *PADDERS))


def _fills(node: ast.BinOp) -> bool:
    """`row + [filler] * (longest - len(row))`."""
    match node:
        case ast.BinOp(row, ast.Add(), ast.BinOp(left, ast.Mult(), right)):
            return any(
                isinstance(filler, ast.List)
                and len(filler.elts) == 1
                and is_sum(missing, ast.Sub)
                and is_call(missing.right, "len")
                and same(missing.right.args[0], row)
                for filler, missing in ((left, right), (right, left))
            )
    return False


def _passed_on(value: ast.expr) -> ast.expr:
    """The variable that a value is in another form: `torch.tensor(rows)`, `ids.long()`."""
    if is_call(value, *FORMS):
        return value.args[0] if value.args else value
    if is_call(value, *KEPT):
        return owner_of(value) or value
    return value


def _counts(value: ast.expr, padded: ast.expr) -> bool:
    """`[len(row) for row in padded]` or `map(len, padded)`."""
    for node in all_parts(value):
        match node:
            case ast.ListComp(element, [loop]) | ast.GeneratorExp(element, [loop]):
                if same(loop.iter, padded) and not loop.ifs:
                    return is_call(element, "len") and same(element.args[0], loop.target)
            case ast.Call(ast.Name("map"), [ast.Name("len"), rows]):
                return same(rows, padded)
    return False


def _tells_tokens(scope: ast.AST, lengths: ast.expr) -> bool:
    """Whether lengths are compared with places, or given to something that does more than count."""
    compared = [part for one in within(scope, ast.Compare) for part in all_parts(one)]
    taking = (call for call in calls_in(scope) if called(call) not in COUNTS_ONLY)
    given = [value for call in taking for value in given_to(call)]
    return any(same(one, lengths) for one in (*compared, *given))


def _full(value: ast.expr, padded: ast.expr) -> bool:
    """A mask of ones in the shape of padded rows."""
    given = value.args[0] if isinstance(value, ast.Call) and value.args else None
    if called(value) == "ones_like":
        return same(given, padded)
    if called(value) != "ones":
        return False
    match given:
        case ast.Attribute(rows, "shape") | ast.Call(ast.Attribute(rows, "size"), []):
            return same(rows, padded)
    return False


def _changed(scope: ast.AST, mask: ast.expr) -> bool:
    """Whether parts of a mask are set later, or it is computed with."""
    for node in all_parts(scope):
        match node:
            case ast.Subscript(value, ctx=ast.Store()) if same(value, mask):
                return True
            case ast.BinOp() | ast.AugAssign() if any(same(part, mask) for part in all_parts(node)):
                return True
            case ast.Call() if called(node) in SET and any(
                same(value, mask) for value in (owner_of(node), *node.args)
            ):
                return True
    return False


def inverted_masks(files: Sequence[FileIndex]) -> Found:
    """Where padding is kept and tokens are left out, and what says so."""
    for call in (call for index in files for call in index.calls):
        for word in call.keywords:
            if word.arg in LEAVE_OUT:
                yield from _left_out(f"{word.arg}={excerpt(word.value)}", word.value)
        fills = is_call(call, "masked_fill", "masked_fill_") and len(call.args) == 2
        if fills and _is_far(call.args[1]) and _keeps_tokens(call.args[0]):
            yield call, f"{excerpt(call.args[0])} is True for tokens, and what is True is filled"
        kept = keyword(call, "attention_mask") if keyword(call, "input_ids") else None
        if kept is not None and _keeps_tokens(kept) is False:
            mask = f"attention_mask={excerpt(kept)}"
            yield kept, f"{mask} is True for padding: what is 0 there is left out"


def _left_out(mask: str, value: ast.expr) -> Found:
    """What is wrong with a mask of what is to be left out."""
    if _keeps_tokens(value):
        yield value, f"{mask} is True for tokens: what is True there is left out"
    given = value_of(value)
    if is_call(given, "float") and isinstance(owner_of(given), ast.Compare):
        yield given, f"{mask} holds numbers, which are added and hide nothing"


def _is_far(node: ast.expr) -> bool:
    """Whether a score is minus infinity, or so low that nothing is left of it."""
    node = read_through(node)
    match node:
        case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() as value)):
            return -value < FAR
        case ast.Call(ast.Name("float"), [given]):
            return is_constant(constant_of(given), "-inf", "-Inf", "-infinity")
    infinite = is_minus(node) and last_word(node.operand) == "inf"
    return infinite or bool(calls_in(node, "finfo"))


def _keeps_tokens(node: ast.expr | None) -> bool | None:
    """Whether a mask is True for tokens, False where it is True for padding; none where no one
    can tell.
    """
    match node:
        case ast.Name():
            value = value_of(node)
            own = value is not node and function_of(value) is function_of(node)
            return _keeps_tokens(value) if own else None
        case ast.Subscript(inner):
            return _keeps_tokens(inner)
        case ast.UnaryOp(ast.Invert() | ast.Not(), inner):
            return _opposite(_keeps_tokens(inner))
        case ast.BinOp(one, ast.Sub(), inner) if is_constant(constant_of(one), 1, 1.0):
            return _opposite(_keeps_tokens(inner))
        case ast.Compare(left, [how], [right]):
            return _compared(left, how, right)
        case ast.Call():
            return _of_call(node)
    return None


def _of_call(call: ast.Call) -> bool | None:
    owner = owner_of(call)
    library = last_word(owner) in (*LIBRARIES, "F")
    operands = call.args if library or owner is None else [owner, *call.args]
    if is_call(call, "ne", "eq", "not_equal") and len(operands) > 1:
        how = ast.Eq() if called(call) == "eq" else ast.NotEq()
        return _compared(operands[0], how, operands[1])
    if called(call) == "logical_not" and operands:
        return _opposite(_keeps_tokens(operands[0]))
    if called(call) in SAME and not library:
        return _keeps_tokens(owner)
    return None


def _compared(left: ast.expr, how: ast.cmpop, right: ast.expr) -> bool | None:
    """`ids != PAD` and `arange < lengths` are True for tokens; `mask == 0` turns a mask round."""
    if isinstance(how, ast.Eq | ast.NotEq):
        known = constant_of(right)
        if known is not None and known.value in (0, 1):
            mask = _keeps_tokens(left)
            # Where the number has a name, what is not a mask is tokens, and the number their filler.
            if mask is not None or known is right:
                if isinstance(how, ast.Eq) != bool(known.value):
                    return _opposite(mask)
                return mask
        if _is_filler(right):
            return isinstance(how, ast.NotEq)
        return None
    flipped = FLIPS.get(type(how))
    if flipped is None or _counts_places(left) == _counts_places(right):
        return None
    if _counts_places(right):
        return _compared(right, flipped(), left)
    if _is_length(right):
        return isinstance(how, ast.Lt | ast.LtE)
    return None


def _is_filler(node: ast.expr) -> bool:
    """Whether rows are filled up with this: it is stated so, or one number and no row."""
    index = file_of(node)
    stated = index.once((_is_filler,), lambda: [*given_as(index.calls, *FILLED_UP), *_added(index)])
    if last_word(node) in FILLED_UP or any(same(node, filler) for filler in stated):
        return True
    return not isinstance(node, ast.Constant) and number(node) is not None


def _added(index: FileIndex) -> Iterator[ast.expr]:
    for node in within(index.tree, ast.BinOp):
        if _fills(node) and isinstance(node.right, ast.BinOp):
            for side in (node.right.left, node.right.right):
                if isinstance(side, ast.List):
                    yield side.elts[0]


def _counts_places(node: ast.expr) -> bool:
    """Whether something is made of the numbers of all places."""
    roots = [node, *map(value_of, within(node, ast.Name))]
    return any(calls_in(root, "arange") for root in roots)


def _is_length(node: ast.expr) -> bool:
    """Whether something is one number per row: it is spread over places by a further axis, or was
    counted.
    """
    if is_call(node, "unsqueeze", "view", "reshape"):
        return True
    if isinstance(node, ast.Subscript):
        parts = map(constant_of, within(node.slice, ast.expr))
        return any(is_constant(part, None) for part in parts)
    return bool(calls_in(value_of(node), "len"))


def _opposite(kept: bool | None) -> bool | None:
    return None if kept is None else not kept
