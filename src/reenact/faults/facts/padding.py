"""Padding that counts as tokens, as far as the text tells: lengths and masks that are taken of rows after
these were padded; masks that are the wrong way round: PyTorch leaves out what is True in `key_padding_mask`
and `masked_fill`, transformers what is 0 in `attention_mask`."""

import ast
import re
from collections.abc import Sequence

from reenact.faults.facts.flow import assigned, flat
from reenact.faults.facts.lines import function_of, place_in, scopes, value_of
from reenact.faults.facts.parts import Found, called, is_call, is_sum, owner_of, within
from reenact.program.syntax.index import FileIndex

PADDERS = ("pad_sequence", "pad_sequences")
FILLER = re.compile(r"pad|fill|^0(?:\.0)?$", re.IGNORECASE)
MASK = re.compile(r"mask", re.IGNORECASE)
LENGTHS = re.compile(
    r"(?:^|_)(?:len|lens|lengths?|seq_?lens?|sizes?|n_tokens)(?:_|$)", re.IGNORECASE
)
USERS = re.compile(r"pack_padded|mask|arange|valid|attn|attention", re.IGNORECASE)
"""What tells tokens from padding by the length of a row."""
FORMS = ("tensor", "as_tensor", "array", "asarray", "stack", "LongTensor", "from_numpy")
SET = ("masked_fill", "cumsum")
KEPT = ("long", "to", "int", "cuda", "contiguous", "astype")
LEAVE_OUT = (
    "key_padding_mask",
    "src_key_padding_mask",
    "tgt_key_padding_mask",
    "memory_key_padding_mask",
)
PADDING = re.compile(r"pad", re.IGNORECASE)
PLACES = re.compile(r"arange|range_row|positions?\b|\bsteps?\b", re.IGNORECASE)
COUNTS = re.compile(r"len", re.IGNORECASE)
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
FAR = re.compile(r"inf|-1e|-\d{4,}|finfo|float\('-inf'\)", re.IGNORECASE)
ZERO = ("0", "False", "0.0")


def padded_lengths(files: Sequence[FileIndex]) -> Found:
    """Where the length of every row is that of the longest, and what says so."""
    for index, scope in ((file, scope) for file in files for scope in scopes(file)):
        padded: set[str] = set()
        text = ast.unparse(scope)
        for target, value in (
            pair for statement in flat(scope.body) for pair in assigned(statement)
        ):
            name = ast.unparse(target)
            of = next(
                (one for one in padded if _counts(value, one)),
                "",
            )
            if of and LENGTHS.search(name) and USERS.search(text):
                saw = (
                    f"{name} is taken of {of}, whose rows are padded already: every row counts as "
                    f"full"
                )
                yield place_in(index, value), saw
            of = next(
                (one for one in padded if _full(value, one)),
                "",
            )
            if of and MASK.search(name) and not _changed(scope, name):
                yield (
                    place_in(index, value),
                    f"{name} is all ones, and rows of {of} are padded",
                )
            fills = isinstance(value, ast.ListComp) and any(
                map(_fills, within(value.elt, ast.BinOp))
            )
            pads = fills or any(is_call(node, *PADDERS) for node in ast.walk(value))
            if pads or _passed_on(value) in padded:
                padded.add(name)
            else:
                padded.discard(name)


def _fills(node: ast.BinOp) -> bool:
    """`row + [PAD] * (longest - len(row))`."""
    return isinstance(node.op, ast.Mult) and any(
        isinstance(items, ast.List)
        and len(items.elts) == 1
        and FILLER.search(ast.unparse(items.elts[0]))
        and is_sum(times, ast.Sub)
        and "len(" in ast.unparse(times)
        for items, times in ((node.left, node.right), (node.right, node.left))
    )


def _passed_on(value: ast.expr) -> str:
    """The variable that a value is in another form: `torch.tensor(rows)`, `ids.long()`."""
    if is_call(value, *FORMS):
        value = value.args[0] if value.args else value
    elif is_call(value, *KEPT):
        value = owner_of(value) or value
    return value.id if isinstance(value, ast.Name) else ""


def _counts(value: ast.expr, padded: str) -> bool:
    """`[len(row) for row in padded]` or `map(len, padded)`."""
    for node in ast.walk(value):
        match node:
            case ast.ListComp(element, [loop]) | ast.GeneratorExp(element, [loop]):
                if ast.unparse(loop.iter) == padded and not loop.ifs:
                    return ast.unparse(element) == f"len({ast.unparse(loop.target)})"
            case ast.Call(_, [_, _]) if called(node) == "map":
                return [ast.unparse(one) for one in node.args] == ["len", padded]
    return False


def _full(value: ast.expr, padded: str) -> bool:
    """A mask of ones in the shape of padded rows."""
    given = ast.unparse(value.args[0]) if isinstance(value, ast.Call) and value.args else ""
    shapes = (f"{padded}.shape", f"{padded}.size()")
    return (called(value) == "ones_like" and given == padded) or (
        called(value) == "ones" and given in shapes
    )


def _changed(scope: ast.AST, name: str) -> bool:
    """Whether parts of a mask are set later, or it is computed with."""
    for node in ast.walk(scope):
        changed = False
        match node:
            case ast.Subscript(value, ctx=ast.Store()):
                changed = ast.unparse(value) == name
            case ast.BinOp() | ast.AugAssign():
                changed = (
                    re.search(
                        rf"\b{re.escape(name)}\b",
                        ast.unparse(node),
                    )
                    is not None
                )
            case ast.Call(ast.Attribute(owner, done), args):
                turned = done in ("tril", "triu")
                own = (done.endswith("_") or turned or done in SET) and ast.unparse(owner) == name
                changed = own or (turned and name in map(ast.unparse, args))
        if changed:
            return True
    return False


def inverted_masks(files: Sequence[FileIndex]) -> Found:
    """Where padding is kept and tokens are left out, and what says so."""
    for index, call in ((file, call) for file in files for call in file.calls):
        named = {word.arg: word.value for word in call.keywords}
        for name, mask in ((name, named[name]) for name in LEAVE_OUT if name in named):
            if _keeps_tokens(index, mask):
                saw = (
                    f"{name}={ast.unparse(mask)} is True for tokens: what is True there is left out"
                )
                yield place_in(index, mask), saw
            given = value_of(index, mask)
            if is_call(given, "float") and isinstance(owner_of(given), ast.Compare):
                saw = f"{name}={ast.unparse(mask)} holds numbers, which are added and hide nothing"
                yield place_in(index, given), saw
        fills = is_call(call, "masked_fill", "masked_fill_") and len(call.args) == 2
        if fills and FAR.search(ast.unparse(call.args[1])) and _keeps_tokens(index, call.args[0]):
            saw = f"{ast.unparse(call.args[0])} is True for tokens, and what is True is filled"
            yield place_in(index, call), saw
        kept = named.get("attention_mask") if "input_ids" in named else None
        if kept is not None and _keeps_tokens(index, kept) is False:
            saw = (
                f"attention_mask={ast.unparse(kept)} is True for padding: what is 0 there is left "
                f"out"
            )
            yield place_in(index, kept), saw


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
        case ast.BinOp() if is_sum(node, ast.Sub) and ast.unparse(node.left) in (
            "1",
            "1.0",
        ):
            return _opposite(_keeps_tokens(index, node.right))
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
    text = ast.unparse(right)
    if isinstance(how, ast.Eq | ast.NotEq):
        if PADDING.search(text):
            return isinstance(how, ast.NotEq)
        mask = _keeps_tokens(index, left) if text in (*ZERO, "1", "True") else None
        if isinstance(how, ast.Eq) == (text in ZERO):
            return _opposite(mask)
        return mask
    if PLACES.search(text) and not PLACES.search(ast.unparse(left)):
        flipped = FLIPS.get(type(how))
        return _compared(index, right, flipped(), left) if flipped is not None else None
    if PLACES.search(ast.unparse(left)) and COUNTS.search(text):
        return isinstance(how, ast.Lt | ast.LtE)
    return None


def _opposite(kept: bool | None) -> bool | None:
    return None if kept is None else not kept
