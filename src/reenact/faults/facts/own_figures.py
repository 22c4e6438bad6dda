"""Held-out rows that are scaled by figures of their own, as far as the text tells: a mean and a deviation, or
the ends of a range, that are taken of the very rows they are applied to, in one split after the other."""

import ast
import re
from collections.abc import Iterator, Sequence

from reenact.faults.facts.flow import assigned, elements, maker_of, stores
from reenact.faults.facts.lines import function_of, place_in, value_of
from reenact.faults.facts.parts import Found, called, options, subject_of, within
from reenact.program.syntax.index import FileIndex

HELD_OUT = re.compile(
    r"(?:^|_)(?:va|val|valid|validation|te|tst|test|eval|dev|holdout)(?:_|$)"
    r"|^x(?:te|tst|test|va|val)(?:_|$)|^x(?:test|val)|(?:test|val)x$",
    re.IGNORECASE,
)
SPLIT = re.compile(
    rf"{HELD_OUT.pattern}|train|(?:^|_)x?tr(?:_|$)",
    re.IGNORECASE,
)
FIGURES = (
    "mean",
    "std",
    "min",
    "max",
    "amin",
    "amax",
    "nanmean",
    "nanstd",
    "var",
    "median",
    "quantile",
)
ROW_WISE = (
    "-1",
    "1",
    "2",
    "(1,)",
    "(1, 2)",
    "(-2, -1)",
    "(2, 3)",
    "(-1,)",
    "[1, 2]",
    "(1, 2, 3)",
    "[-1]",
)
"""Axes along which every row, window or image has its own figures."""
SCALING = (
    "scale",
    "minmax_scale",
    "robust_scale",
    "quantile_transform",
    "power_transform",
    "zscore",
)
"""Functions of scikit-learn and SciPy that scale by the figures of what they are given."""
IMPORTED = r"import [^\n]*\b(?:{}|preprocessing|stats)\b"
FIGURE = re.compile(r"mean|std|stat|scal|norm")


def scaled_by_themselves(files: Sequence[FileIndex]) -> Found:
    """Where rows are scaled by their own figures, held-out ones as well as others, and what
    says so.
    """
    for index in files:
        for node, rows, shift in _scalings(index):
            shifts = _figures(index, shift)
            spreads = _figures(index, node.right)
            taken = [*shifts, *spreads] if shifts and spreads else []
            own = [subject_of(call) for call in taken if not _row_wise(call)]
            alike = [
                one for one in own if one is not None and ast.unparse(one) == ast.unparse(rows)
            ]
            held = _held_out(files, index, node, rows) if len(alike) == len(taken) > 0 else ""
            if held:
                saw = f"{held} is scaled by its own figures, apart from what the model learns from"
                yield place_in(index, taken[0]), saw
        yield from _by_library(index)


def _scalings(index: FileIndex) -> Iterator[tuple[ast.BinOp, ast.expr, ast.expr]]:
    """Every `(rows - shift) / spread`, with its rows and what they are shifted by."""
    for node in within(index.tree, ast.BinOp):
        match node:
            case ast.BinOp(ast.BinOp(rows, ast.Sub(), shift), ast.Div()):
                yield node, rows, shift


def _by_library(index: FileIndex) -> Found:
    calls = [call for call in index.calls if called(call) in SCALING]
    # A function of this name is the library's.
    calls = [
        one
        for one in calls
        if re.search(
            IMPORTED.format(called(one)),
            index.text,
        )
    ]
    given = {call: base_name(call.args[0]) for call in calls if call.args and not _row_wise(call)}
    for call, held in (
        given.items() if any(not HELD_OUT.search(name) for name in given.values()) else ()
    ):
        if HELD_OUT.search(held):
            saw = f"{called(call)}() scales {held} by its own figures, apart from the training rows"
            yield place_in(index, call), saw


def _figures(index: FileIndex, node: ast.expr) -> list[ast.Call]:
    """The calls that a figure is computed by; empty where it is given from outside."""
    found: list[ast.Call] = []
    for part in _parts(node):
        value = _own_value(index, part)
        calls = [one for one in within(value, ast.Call) if called(one) in FIGURES]
        if isinstance(value, ast.IfExp | ast.BoolOp) or not calls:
            return []
        found += calls
    return found


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    """The terms of a figure, without numbers that keep it from zero."""
    if isinstance(node, ast.BinOp):
        yield from _parts(node.left)
        yield from _parts(node.right)
    elif not isinstance(node, ast.Constant) and not re.search(
        r"eps", ast.unparse(node), re.IGNORECASE
    ):
        yield node


def _own_value(index: FileIndex, node: ast.expr) -> ast.expr:
    """What a variable or an attribute was given in the function that it is read in."""
    owner = function_of(index, node)
    if isinstance(node, ast.Name):
        value = value_of(index, node)
        if node.id not in _arguments(owner) and function_of(index, value) is owner:
            return value
        return node
    if isinstance(node, ast.Attribute):
        values = [
            value for target, value in stores(owner) if ast.unparse(target) == ast.unparse(node)
        ]
        return values[0] if len(values) == 1 else node
    return node


def _arguments(function: ast.AST) -> set[str]:
    if isinstance(function, ast.FunctionDef):
        return {one.arg for one in function.args.args}
    return set()


def _row_wise(call: ast.Call) -> bool:
    axes = [text for name, text in options(call).items() if name in ("axis", "dim")]
    return any(text in ROW_WISE for text in (*axes, *(ast.unparse(one) for one in call.args)))


def _held_out(
    files: Sequence[FileIndex],
    index: FileIndex,
    node: ast.expr,
    rows: ast.expr,
) -> str:
    """The held-out rows that an expression scales: by their name, where other rows are scaled the
    same way; in a loop over splits; as what a function or class is given beside its training rows.
    Empty where there are none.
    """
    name = base_name(rows)
    if HELD_OUT.search(name):
        others = [base_name(other) for one, other, _ in _scalings(index) if one is not node]
        if any(one not in ("", name) and not HELD_OUT.search(one) for one in others):
            return name
        return ""
    return _looped(index, node) or _held_of(splits_given(files, index, node, name))


def _held_of(splits: Sequence[str]) -> str:
    """The first held-out one of several splits; empty where none or all are held out."""
    held = [one for one in splits if HELD_OUT.search(one)]
    if held and len(held) < len(splits):
        return held[0]
    return ""


def splits_given(
    files: Sequence[FileIndex], index: FileIndex, node: ast.AST, name: str
) -> list[str]:
    """The splits that the function or class around a node is called for, where this argument is
    its rows.
    """
    owner = function_of(index, node)
    if not isinstance(owner, ast.FunctionDef) or name not in _arguments(owner):
        return []
    maker = maker_of(index, owner)
    calls = [(file, call) for file in files for call in file.calls if called(call) == maker]
    return [split for file, call in calls for split in _split(file, call)]


def _looped(index: FileIndex, node: ast.AST) -> str:
    """The held-out split of a loop or comprehension whose variable is scaled: `for part in
    (train, test)`.
    """
    inner = {one.id for one in within(node, ast.Name)}
    for above in index.ancestors(node):
        if isinstance(above, ast.FunctionDef):
            return ""
        for loop in [above] if isinstance(above, ast.For) else getattr(above, "generators", []):
            parts = [(one, getattr(one, "value", "")) for one in elements(loop.iter)]
            held = _held_of(
                [str(n) if isinstance(one, ast.Constant) else base_name(one) for one, n in parts]
            )
            if held and isinstance(loop.target, ast.Name) and loop.target.id in inner:
                return held
    return ""


def _split(index: FileIndex, call: ast.Call) -> Sequence[str]:
    """The name of the split that a call is for: what it is given, else what its answer is called. A
    call with a figure from elsewhere counts for nothing.
    """
    if any(FIGURE.search(ast.unparse(one)) for one in (*call.args[1:], *call.keywords)):
        return ()
    first = base_name(call.args[0]) if call.args else ""
    above = index.parents.get(call)
    stored = (
        [ast.unparse(target) for target, _ in assigned(above)]
        if isinstance(above, ast.Assign)
        else []
    )
    if SPLIT.search(first):
        return [first]
    return [*stored[:1]] or [first]


def base_name(node: ast.expr) -> str:
    """The variable that is read, without what is taken of it, or the split that is taken: `x_test`
    of `x_test[:, 1:].values`, `test` of `data["test"]`.
    """
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        key = node.slice if isinstance(node, ast.Subscript) else None
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            return key.value
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
