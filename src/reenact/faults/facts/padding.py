"""Padding that counts as tokens, as far as the text tells: lengths and masks that are taken of rows after
these were padded; masks that are the wrong way round: PyTorch leaves out what is True in `key_padding_mask`
and `masked_fill`, transformers what is 0 in `attention_mask`."""

import ast
from collections.abc import Iterator, Sequence

from reenact.faults.facts.flow import assigned, flat, number
from reenact.faults.facts.lines import function_of, place_in, scopes, value_of
from reenact.faults.facts.parts import (
    Found,
    all_parts,
    called,
    is_call,
    is_sum,
    last_word,
    owner_of,
    within,
)
from reenact.program.syntax.excerpt import excerpt, same
from reenact.program.syntax.index import FileIndex

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
    return any(is_call(part, *PADDERS) for part in all_parts(node)) or any(
        map(_fills, within(node, ast.BinOp))
    )


def knows_filler(index: FileIndex) -> bool:
    """Whether a file pads, or states by what rows are filled up."""
    return pads(index.tree) or any(
        word.arg in FILLED_UP for call in index.calls for word in call.keywords
    )


def is_mask(scope: ast.AST, target: ast.expr) -> bool:
    """Whether something is given to a model, or to attention, as its mask."""
    for node in all_parts(scope):
        given: list[tuple[object, ast.expr]] = []
        if isinstance(node, ast.Call):
            given = [(word.arg, word.value) for word in node.keywords]
        elif isinstance(node, ast.Dict):
            keys = (getattr(key, "value", None) for key in node.keys)
            given = list(zip(keys, node.values, strict=True))
        if any(name in (*KEEP, *LEAVE_OUT) and same(value, target) for name, value in given):
            return True
    return False


def padded_lengths(files: Sequence[FileIndex]) -> Found:
    """Where the length of every row is that of the longest, and what says so."""
    for index, scope in ((file, scope) for file in files for scope in scopes(file)):
        padded: list[ast.expr] = []
        for target, value in (
            pair for statement in flat(scope.body) for pair in assigned(statement)
        ):
            counted = next((rows for rows in padded if _counts(value, rows)), None)
            if counted is not None and _tells_tokens(scope, target):
                saw = (
                    f"{excerpt(target)} is taken of {excerpt(counted)}, whose rows are padded "
                    f"already: every row counts as full"
                )
                yield place_in(index, value), saw
            full = next((rows for rows in padded if _full(value, rows)), None)
            if full is not None and is_mask(scope, target) and not _changed(scope, target):
                saw = f"{excerpt(target)} is all ones, and rows of {excerpt(full)} are padded"
                yield place_in(index, value), saw
            filled = _pads(value) or any(same(rows, _passed_on(value)) for rows in padded)
            padded = [rows for rows in padded if not same(rows, target)] + [target] * filled


def _pads(value: ast.expr) -> bool:
    fills = isinstance(value, ast.ListComp) and any(map(_fills, within(value.elt, ast.BinOp)))
    return fills or any(is_call(node, *PADDERS) for node in all_parts(value))


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
    for node in all_parts(scope):
        if isinstance(node, ast.Compare) and any(same(part, lengths) for part in all_parts(node)):
            return True
        if isinstance(node, ast.Call) and called(node) not in COUNTS_ONLY:
            given = (*node.args, *(word.value for word in node.keywords))
            if any(same(value, lengths) for value in given):
                return True
    return False


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
    for index, call in ((file, call) for file in files for call in file.calls):
        named = {word.arg: word.value for word in call.keywords}
        for name, mask in ((name, named[name]) for name in LEAVE_OUT if name in named):
            if _keeps_tokens(index, mask):
                saw = f"{name}={excerpt(mask)} is True for tokens: what is True there is left out"
                yield place_in(index, mask), saw
            given = value_of(index, mask)
            if is_call(given, "float") and isinstance(owner_of(given), ast.Compare):
                saw = f"{name}={excerpt(mask)} holds numbers, which are added and hide nothing"
                yield place_in(index, given), saw
        fills = is_call(call, "masked_fill", "masked_fill_") and len(call.args) == 2
        if fills and _is_far(call.args[1]) and _keeps_tokens(index, call.args[0]):
            saw = f"{excerpt(call.args[0])} is True for tokens, and what is True is filled"
            yield place_in(index, call), saw
        kept = named.get("attention_mask") if "input_ids" in named else None
        if kept is not None and _keeps_tokens(index, kept) is False:
            saw = f"attention_mask={excerpt(kept)} is True for padding: what is 0 there is left out"
            yield place_in(index, kept), saw


def _is_far(node: ast.expr) -> bool:
    """Whether a score is minus infinity, or so low that nothing is left of it."""
    match node:
        case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() as value)):
            return -value < FAR
        case ast.UnaryOp(ast.USub(), ast.Attribute(attr="inf")):
            return True
        case ast.Call(ast.Name("float"), [ast.Constant(str(value))]):
            return value in ("-inf", "-Inf", "-infinity")
    return any(is_call(part, "finfo") for part in all_parts(node))


def _keeps_tokens(index: FileIndex, node: ast.expr | None) -> bool | None:
    """Whether a mask is True for tokens, False where it is True for padding; none where nobody
    can tell.
    """
    match node:
        case ast.Name():
            value = value_of(index, node)
            own = value is not node and function_of(index, value) is function_of(index, node)
            return _keeps_tokens(index, value) if own else None
        case ast.Subscript(inner):
            return _keeps_tokens(index, inner)
        case ast.UnaryOp(ast.Invert() | ast.Not(), inner):
            return _opposite(_keeps_tokens(index, inner))
        case ast.BinOp(ast.Constant(1), ast.Sub(), inner):
            return _opposite(_keeps_tokens(index, inner))
        case ast.Compare(left, [how], [right]):
            return _compared(index, left, how, right)
        case ast.Call():
            return _of_call(index, node)
    return None


def _of_call(index: FileIndex, call: ast.Call) -> bool | None:
    owner = owner_of(call)
    library = isinstance(owner, ast.Name) and owner.id in ("torch", "np", "F")
    if is_call(call, "ne", "eq", "not_equal") and call.args and owner is not None:
        left, right = call.args[:2] if library and len(call.args) > 1 else (owner, call.args[0])
        return _compared(
            index,
            left,
            ast.Eq() if called(call) == "eq" else ast.NotEq(),
            right,
        )
    if called(call) == "logical_not":
        return _opposite(
            _keeps_tokens(
                index,
                call.args[0] if call.args else owner,
            )
        )
    if called(call) in SAME and not library:
        return _keeps_tokens(index, owner)
    return None


def _compared(
    index: FileIndex,
    left: ast.expr,
    how: ast.cmpop,
    right: ast.expr,
) -> bool | None:
    """`ids != PAD` and `arange < lengths` are True for tokens; `mask == 0` turns a mask round."""
    if isinstance(how, ast.Eq | ast.NotEq):
        if isinstance(right, ast.Constant) and right.value in (0, 1):
            mask = _keeps_tokens(index, left)
            return _opposite(mask) if isinstance(how, ast.Eq) != bool(right.value) else mask
        return isinstance(how, ast.NotEq) if _is_filler(index, right) else None
    flipped = FLIPS.get(type(how))
    if flipped is None or _counts_places(index, left) == _counts_places(index, right):
        return None
    if _counts_places(index, right):
        return _compared(index, right, flipped(), left)
    return isinstance(how, ast.Lt | ast.LtE) if _is_length(index, right) else None


def _is_filler(index: FileIndex, node: ast.expr) -> bool:
    """Whether rows are filled up with this: it is stated so, or one number and no row."""
    if last_word(node) in FILLED_UP:
        return True
    if any(same(node, filler) for filler in index.once((_is_filler,), lambda: _fillers(index))):
        return True
    return not isinstance(node, ast.Constant) and number(index, node) is not None


def _fillers(index: FileIndex) -> list[ast.expr]:
    stated = [word.value for call in index.calls for word in call.keywords if word.arg in FILLED_UP]
    return [*stated, *_added(index)]


def _added(index: FileIndex) -> Iterator[ast.expr]:
    for node in within(index.tree, ast.BinOp):
        if _fills(node) and isinstance(node.right, ast.BinOp):
            for side in (node.right.left, node.right.right):
                if isinstance(side, ast.List):
                    yield side.elts[0]


def _counts_places(index: FileIndex, node: ast.expr) -> bool:
    """Whether something is made of the numbers of all places."""
    roots = [node, *(value_of(index, name) for name in within(node, ast.Name))]
    return any(is_call(part, "arange") for root in roots for part in all_parts(root))


def _is_length(index: FileIndex, node: ast.expr) -> bool:
    """Whether something is one number a row: it is spread over places by a further axis, or was
    counted.
    """
    if is_call(node, "unsqueeze", "view", "reshape"):
        return True
    if isinstance(node, ast.Subscript):
        return any(
            isinstance(part, ast.Constant) and part.value is None for part in all_parts(node.slice)
        )
    value = value_of(index, node)
    return any(is_call(part, "len") for part in all_parts(value))


def _opposite(kept: bool | None) -> bool | None:
    return None if kept is None else not kept
