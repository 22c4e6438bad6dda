"""Lengths and masks that are taken of rows after these were padded, as far as the text of one function tells:
every row then counts as full."""

import ast
import re
from collections.abc import Iterator, Sequence

from reenact.program.read.index import FileIndex
from reenact.rules import Place
from reenact.rules.own._flow import assigned
from reenact.rules.own._lines import called, place_in
from reenact.rules.own._orders import flat

PADDERS = ("pad_sequence", "pad_sequences")
FILLER = re.compile(r"pad|fill|^0(?:\.0)?$", re.IGNORECASE)
MASK = re.compile(r"mask", re.IGNORECASE)
LENGTHS = re.compile(r"(?:^|_)(?:len|lens|lengths?|seq_?lens?|sizes?|n_tokens)(?:_|$)", re.IGNORECASE)
USERS = re.compile(r"pack_padded|mask|arange|valid|attn|attention", re.IGNORECASE)
"""What tells tokens from padding by the length of a row."""


def padded_lengths(files: Sequence[FileIndex]) -> Iterator[tuple[Place, str]]:
    """Where the length of every row is that of the longest, and what says so."""
    for index in files:
        for scope in (index.tree, *(one.node for one in index.functions)):
            if isinstance(scope, ast.Module | ast.FunctionDef):
                yield from _in_scope(index, scope)


def _in_scope(index: FileIndex, scope: ast.Module | ast.FunctionDef) -> Iterator[tuple[Place, str]]:
    padded: set[str] = set()
    text = ast.unparse(scope)
    for statement in flat(scope.body):
        for target, value in assigned(statement):
            name = ast.unparse(target)
            of = next((one for one in padded if _counts(value, one)), "")
            if of and LENGTHS.search(name) and USERS.search(text):
                saw = f"{name} is taken of {of}, whose rows are padded already: every row counts as full"
                yield place_in(index, value), saw
            of = next((one for one in padded if _full(value, one)), "")
            if of and MASK.search(name) and not _changed(scope, name):
                yield place_in(index, value), f"{name} is all ones, and rows of {of} are padded"
            if _pads(value) or (isinstance(value, ast.Call | ast.Name) and _passes_on(value, padded)):
                padded.add(name)
            else:
                padded.discard(name)


def _pads(value: ast.expr) -> bool:
    """Whether an expression fills rows up to one length."""
    calls = [node for node in ast.walk(value) if isinstance(node, ast.Call)]
    if any(called(call) in PADDERS for call in calls):
        return True
    loops = isinstance(value, ast.ListComp)
    element = value.elt if isinstance(value, ast.ListComp) else value
    return loops and any(_fills(node) for node in ast.walk(element))


def _fills(node: ast.AST) -> bool:
    """`row + [PAD] * (longest - len(row))`."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return False
    for items, times in ((node.left, node.right), (node.right, node.left)):
        one = items.elts[0] if isinstance(items, ast.List) and len(items.elts) == 1 else None
        missing = (
            isinstance(times, ast.BinOp) and isinstance(times.op, ast.Sub) and "len(" in ast.unparse(times)
        )
        if one is not None and missing and FILLER.search(ast.unparse(one)):
            return True
    return False


def _passes_on(value: ast.expr, padded: set[str]) -> bool:
    """Whether a value is padded rows in another form: `torch.tensor(rows)`, `ids.long()`."""
    if isinstance(value, ast.Name):
        return value.id in padded
    if not isinstance(value, ast.Call):
        return False
    owner = value.func.value if isinstance(value.func, ast.Attribute) else None
    if called(value) in ("tensor", "as_tensor", "array", "asarray", "stack", "LongTensor", "from_numpy"):
        return bool(value.args) and isinstance(value.args[0], ast.Name) and value.args[0].id in padded
    kept = called(value) in ("long", "to", "int", "cuda", "contiguous", "astype")
    return kept and isinstance(owner, ast.Name) and owner.id in padded


def _counts(value: ast.expr, padded: str) -> bool:
    """`[len(row) for row in padded]` or `map(len, padded)`."""
    for node in ast.walk(value):
        if isinstance(node, ast.ListComp | ast.GeneratorExp) and len(node.generators) == 1:
            loop = node.generators[0]
            if ast.unparse(loop.iter) == padded and not loop.ifs:
                return ast.unparse(node.elt) == f"len({ast.unparse(loop.target)})"
        if isinstance(node, ast.Call) and called(node) == "map" and len(node.args) == 2:
            return [ast.unparse(one) for one in node.args] == ["len", padded]
    return False


def _full(value: ast.expr, padded: str) -> bool:
    """A mask of ones in the shape of padded rows."""
    if not isinstance(value, ast.Call) or not value.args:
        return False
    given = ast.unparse(value.args[0])
    return (called(value) == "ones_like" and given == padded) or (
        called(value) == "ones" and given in (f"{padded}.shape", f"{padded}.size()")
    )


def _changed(scope: ast.AST, name: str) -> bool:
    """Whether parts of a mask are set later, or it is computed with."""
    for node in ast.walk(scope):
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Store)
            and ast.unparse(node.value) == name
        ):
            return True
        if isinstance(node, ast.BinOp | ast.AugAssign) and re.search(
            rf"\b{re.escape(name)}\b", ast.unparse(node)
        ):
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner, done = ast.unparse(node.func.value), called(node)
            if owner == name and (done.endswith("_") or done in ("tril", "triu", "masked_fill", "cumsum")):
                return True
            if done in ("tril", "triu") and any(ast.unparse(one) == name for one in node.args):
                return True
    return False
