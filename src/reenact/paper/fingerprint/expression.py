"""Expressions over numpy that a model proposes for a formula: read by us, never given to `eval`.

Covered: numbers, the free names, + - * / ** unary minus, comparisons inside np.where, indexing by
constant slices, and the functions below. Everything else (attributes, strings, comprehensions,
calls of names) is refused. Sizes stay those of the sample inputs.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FUNCTIONS = frozenset(
    (
        "exp",
        "log",
        "log2",
        "log10",
        "log1p",
        "expm1",
        "sqrt",
        "abs",
        "square",
        "sin",
        "cos",
        "tan",
        "tanh",
        "arctan",
        "sinh",
        "cosh",
        "sign",
        "floor",
        "ceil",
        "maximum",
        "minimum",
        "clip",
        "where",
        "power",
        "sum",
        "mean",
        "max",
        "min",
        "std",
        "var",
        "prod",
        "dot",
        "matmul",
        "cumsum",
        "argmax",
        "argmin",
        "reshape",
        "transpose",
        "swapaxes",
        "expand_dims",
    )
)
LAID_OUT = frozenset(("reshape", "transpose", "swapaxes", "expand_dims"))
"""Functions that take one array, and written-out sizes or axes after it."""
CONSTANTS = frozenset(("pi", "e", "inf"))
KEYWORDS = frozenset(("axis", "keepdims"))
OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
}
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
}
MOST_NODES = 200
LARGEST = 4096
"""Numbers in any intermediate value."""
_PLAIN = (
    ast.Name,
    ast.Load,
    ast.BinOp,
    ast.UnaryOp,
    ast.USub,
    ast.UAdd,
    ast.Compare,
    ast.Subscript,
    ast.Slice,
    ast.Tuple,
    *OPERATORS,
    *_COMPARISONS,
)


class Misfit(ValueError):
    """An expression that is not of the small language; the text says what is not."""


def parsed(text: str, *, free: bool = True) -> tuple[ast.expr, tuple[str, ...]]:
    """The expression and its free names in order of appearance. Raises Misfit, also when `free`
    has none.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Misfit(f"it is not a Python expression: {error}") from None
    nodes = list(ast.walk(tree))
    if len(nodes) > MOST_NODES:
        raise Misfit("it is too long")
    for node in nodes:
        _refuse(node)
    loose = [node for node in nodes if isinstance(node, ast.Name) and node.id != "np"]
    names = dict.fromkeys(
        node.id
        for node in sorted(
            loose,
            key=lambda one: (one.lineno, one.col_offset),
        )
    )
    if free and not names:
        raise Misfit("it has no inputs")
    return tree, tuple(names)


def value_of(
    text: str,
    inputs: Mapping[str, Any],
    *,
    free: bool = True,
) -> NDArray[np.float64]:
    """What the expression gives for these inputs. Raises Misfit when it cannot be computed."""
    import numpy as np

    tree, _ = parsed(text, free=free)
    try:
        with np.errstate(all="ignore"):
            return np.asarray(_computed(tree, inputs), dtype=np.float64)
    except (ArithmeticError, ValueError, TypeError, IndexError, KeyError) as error:
        raise Misfit(f"it cannot be computed: {error}") from None


def _refuse(node: ast.AST) -> None:
    if isinstance(node, ast.Constant):
        if not isinstance(node.value, int | float | None):
            raise Misfit(f"it holds {node.value!r}, which is not a number")
    elif isinstance(node, ast.Attribute):
        known = FUNCTIONS | CONSTANTS
        if not (isinstance(node.value, ast.Name) and node.value.id == "np" and node.attr in known):
            raise Misfit(f"it uses .{node.attr}")
    elif isinstance(node, ast.Call):
        if not isinstance(node.func, ast.Attribute) or node.func.attr not in FUNCTIONS:
            raise Misfit("it calls something else than a function of np")
    elif isinstance(node, ast.keyword):
        if node.arg not in KEYWORDS:
            raise Misfit(f"it gives {node.arg}=")
    elif not isinstance(node, _PLAIN):
        raise Misfit(f"it holds a {type(node).__name__}")


def _computed(
    node: ast.AST | None,
    inputs: Mapping[str, Any],
) -> Any:
    """The value of a part; none may grow beyond what sample inputs make."""
    import numpy as np

    value = _part(node, inputs)
    if not callable(value) and np.size(value) > LARGEST:
        raise Misfit("it makes too many numbers of its inputs")
    return value


def _part(
    node: ast.AST | None,
    inputs: Mapping[str, Any],
) -> Any:
    import numpy as np

    match node:
        case ast.Constant(value=int() | float() as value):
            # Floats overflow; integers of Python would grow without end.
            return float(value)
        case ast.Name(id=name):
            return inputs[name]
        case ast.BinOp(left=left, op=sign, right=right):
            return OPERATORS[type(sign)](
                _computed(left, inputs),
                _computed(right, inputs),
            )
        case ast.UnaryOp(op=sign, operand=operand):
            value = _computed(operand, inputs)
            if isinstance(sign, ast.USub):
                return -value
            return value
        case ast.Compare(left=left, ops=[sign], comparators=[right]):
            return _COMPARISONS[type(sign)](
                _computed(left, inputs),
                _computed(right, inputs),
            )
        case ast.Subscript(value=inner, slice=where):
            return _computed(inner, inputs)[_index(where)]
        case ast.Attribute(attr=name):
            return getattr(np, name)
        case ast.Call(func=ast.Attribute(attr=name), args=arguments, keywords=keywords):
            given = {one.arg: _whole(one.value) for one in keywords if one.arg}
            taken = 1 if name in LAID_OUT else len(arguments)
            values = [_computed(one, inputs) for one in arguments[:taken]]
            return getattr(np, name)(
                *values,
                *(_whole(one) for one in arguments[taken:]),
                **given,
            )
    raise Misfit(f"it holds a {type(node).__name__} in a place where it means nothing")


def _index(node: ast.expr) -> Any:
    if isinstance(node, ast.Tuple):
        return tuple(_index(one) for one in node.elts)
    if isinstance(node, ast.Slice):
        return slice(
            *(None if end is None else _whole(end) for end in (node.lower, node.upper, node.step))
        )
    return _whole(node)


def _whole(node: ast.expr) -> Any:
    """An integer, none (a new axis) or a truth value as it is written."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise Misfit("an index or an axis is written out as a number") from None
