"""`--scale` shortens the training alone: sizes of the evaluation that follow it are found by reading.

Followed are names that plain arithmetic makes from the scale, in one file. A size of the evaluation is
known by its name (`n_test`, `eval_episodes`, an argument of `evaluate`); how often is evaluated may change.
"""

import ast
import re
from collections.abc import Iterator

from reenact.codegen.syntax import targets_of
from reenact.paper.fingerprint.vocabulary import words_of
from reenact.paper.verify.settings import last_name

SCALE = "scale"
EVALUATION = frozenset(("test", "eval", "evaluation", "evaluate", "val", "valid", "validation", "heldout"))
HOW_OFTEN = frozenset(("every", "interval", "freq", "frequency", "period", "epoch", "step", "scale"))
ARITHMETIC = frozenset(("int", "float", "round", "max", "min", "ceil", "floor"))
_ARGUMENT = re.compile(r"evaluat|^test_")


def scaled_evaluations(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and name of everything of the evaluation whose size follows the scale."""
    scaled = _scaled_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            names = [last_name(target) for target in targets_of(node)]
            yield from (
                (node.lineno, name) for name in names if _sizes(name) and _follows(node.value, scaled)
            )
        elif isinstance(node, ast.Call):
            callee = last_name(node.func)
            for keyword in node.keywords:
                if keyword.arg and _sizes(keyword.arg) and _follows(keyword.value, scaled):
                    yield keyword.value.lineno, keyword.arg
            if _ARGUMENT.search(callee):
                given = (*node.args, *(one.value for one in node.keywords))
                yield from ((one.lineno, callee) for one in given if _follows(one, {SCALE}))


def _sizes(name: str) -> bool:
    words = words_of(name)
    return bool(words & EVALUATION) and not words & HOW_OFTEN


def _scaled_names(tree: ast.Module) -> set[str]:
    """Names that arithmetic makes from the scale."""
    found, before = {SCALE}, 0
    while len(found) > before:
        before = len(found)
        for node in ast.walk(tree):
            given = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
            if isinstance(node, ast.stmt) and given is not None and _follows(given, found):
                found |= {name for name in map(last_name, targets_of(node)) if name}
    return found


def _follows(value: ast.expr, scaled: set[str]) -> bool:
    """Whether arithmetic alone leads from a scaled name to this value."""
    match value:
        case ast.Name() | ast.Attribute():
            return last_name(value) in scaled
        case ast.BinOp(left=left, right=right):
            return _follows(left, scaled) or _follows(right, scaled)
        case ast.IfExp(body=body, orelse=other):
            return _follows(body, scaled) or _follows(other, scaled)
        case ast.Call(func=function, args=arguments) if last_name(function) in ARITHMETIC:
            return any(_follows(one, scaled) for one in arguments)
    return False
