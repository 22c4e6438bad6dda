"""Lengths and masks that are taken of rows after these were padded: every row then counts as full."""

import ast
import re
from collections.abc import Sequence

from reenact.program.read.index import FileIndex
from reenact.rules.own._flow import assigned, flat
from reenact.rules.own._lines import place_in, scopes
from reenact.rules.own._parts import Found, called, is_call, is_sum, owner_of, within

PADDERS = ("pad_sequence", "pad_sequences")
FILLER = re.compile(r"pad|fill|^0(?:\.0)?$", re.IGNORECASE)
MASK = re.compile(r"mask", re.IGNORECASE)
LENGTHS = re.compile(r"(?:^|_)(?:len|lens|lengths?|seq_?lens?|sizes?|n_tokens)(?:_|$)", re.IGNORECASE)
USERS = re.compile(r"pack_padded|mask|arange|valid|attn|attention", re.IGNORECASE)
"""What tells tokens from padding by the length of a row."""
FORMS = ("tensor", "as_tensor", "array", "asarray", "stack", "LongTensor", "from_numpy")
SET = ("masked_fill", "cumsum")
KEPT = ("long", "to", "int", "cuda", "contiguous", "astype")


def padded_lengths(files: Sequence[FileIndex]) -> Found:
    """Where the length of every row is that of the longest, and what says so."""
    for index, scope in ((file, scope) for file in files for scope in scopes(file)):
        padded: set[str] = set()
        text = ast.unparse(scope)
        for target, value in (pair for statement in flat(scope.body) for pair in assigned(statement)):
            name = ast.unparse(target)
            of = next((one for one in padded if _counts(value, one)), "")
            if of and LENGTHS.search(name) and USERS.search(text):
                saw = f"{name} is taken of {of}, whose rows are padded already: every row counts as full"
                yield place_in(index, value), saw
            of = next((one for one in padded if _full(value, one)), "")
            if of and MASK.search(name) and not _changed(scope, name):
                yield place_in(index, value), f"{name} is all ones, and rows of {of} are padded"
            fills = isinstance(value, ast.ListComp) and any(map(_fills, within(value.elt, ast.BinOp)))
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
    return (called(value) == "ones_like" and given == padded) or (called(value) == "ones" and given in shapes)


def _changed(scope: ast.AST, name: str) -> bool:
    """Whether parts of a mask are set later, or it is computed with."""
    for node in ast.walk(scope):
        changed = False
        match node:
            case ast.Subscript(value, ctx=ast.Store()):
                changed = ast.unparse(value) == name
            case ast.BinOp() | ast.AugAssign():
                changed = re.search(rf"\b{re.escape(name)}\b", ast.unparse(node)) is not None
            case ast.Call(ast.Attribute(owner, done), args):
                turned = done in ("tril", "triu")
                own = (done.endswith("_") or turned or done in SET) and ast.unparse(owner) == name
                changed = own or (turned and name in map(ast.unparse, args))
        if changed:
            return True
    return False
