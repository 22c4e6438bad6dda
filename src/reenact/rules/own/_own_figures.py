"""Held-out rows that are scaled by figures of their own, as far as the text tells: a mean and a deviation, or
the ends of a range, that are taken of the very rows they are applied to, in one split after the other."""

import ast
import re
from collections.abc import Iterator, Sequence

from reenact.program.read.index import FileIndex
from reenact.rules import Place
from reenact.rules.own._flow import assigned
from reenact.rules.own._lines import called, function_of, place_in, value_of

HELD_OUT = re.compile(
    r"(?:^|_)(?:val|valid|validation|test|eval|dev)(?:_|$)|^[xX](?:test|val)|(?:test|val)X$", re.IGNORECASE
)
SPLIT = re.compile(rf"{HELD_OUT.pattern}|train", re.IGNORECASE)
FIGURES = ("mean", "std", "min", "max", "amin", "amax", "nanmean", "nanstd", "var", "median", "quantile")
ROW_WISE = ("-1", "1", "2", "(1,)", "(1, 2)", "(-2, -1)", "(2, 3)", "(-1,)", "[1, 2]", "(1, 2, 3)", "[-1]")
"""Axes along which every row, window or image has its own figures."""
SCALING = ("scale", "minmax_scale", "robust_scale", "quantile_transform", "power_transform", "zscore")
"""Functions of scikit-learn and SciPy that scale by the figures of what they are given."""


def scaled_by_themselves(files: Sequence[FileIndex]) -> Iterator[tuple[Place, str]]:
    """Where rows are scaled by their own figures, held-out ones as well as others, and what says so."""
    for index in files:
        for node in ast.walk(index.tree):
            rows = _scaled(index, node) if isinstance(node, ast.BinOp) else None
            held = (
                _held_out(files, index, node, rows)
                if isinstance(node, ast.BinOp) and rows is not None
                else ""
            )
            if held and isinstance(node, ast.BinOp) and isinstance(node.left, ast.BinOp):
                taken = _figures(index, node.left.right)[0]
                saw = f"{held} is scaled by its own figures, apart from what the model learns from"
                yield place_in(index, taken), saw
        yield from _by_library(index)


def _by_library(index: FileIndex) -> Iterator[tuple[Place, str]]:
    calls = [call for call in index.calls if called(call) in SCALING and _from_library(index, call)]
    given = {call: base_name(call.args[0]) for call in calls if call.args and not _row_wise(call)}
    for call, held in given.items() if any(not HELD_OUT.search(name) for name in given.values()) else ():
        if HELD_OUT.search(held):
            saw = f"{called(call)}() scales {held} by its own figures, apart from the training rows"
            yield place_in(index, call), saw


def _scaled(index: FileIndex, node: ast.BinOp) -> ast.expr | None:
    """The rows of `(rows - rows.mean()) / rows.std()`, where both figures are of these rows and of all of
    them."""
    above = node.left
    if (
        not isinstance(node.op, ast.Div)
        or not isinstance(above, ast.BinOp)
        or not isinstance(above.op, ast.Sub)
    ):
        return None
    rows = above.left
    shift, spread = _figures(index, above.right), _figures(index, node.right)
    if not shift or not spread or any(_row_wise(call) for call in (*shift, *spread)):
        return None
    whose = [_whose(call) for call in (*shift, *spread)]
    return rows if all(one is not None and ast.unparse(one) == ast.unparse(rows) for one in whose) else None


def _figures(index: FileIndex, node: ast.expr) -> list[ast.Call]:
    """The calls that a figure is computed by; empty where it is given from outside."""
    found: list[ast.Call] = []
    for part in _parts(node):
        value = _own_value(index, part)
        calls = [one for one in ast.walk(value) if isinstance(one, ast.Call) and called(one) in FIGURES]
        if isinstance(value, ast.IfExp | ast.BoolOp) or not calls:
            return []
        found += calls
    return found


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    """The terms of a figure, without numbers that keep it from zero."""
    if isinstance(node, ast.BinOp):
        yield from _parts(node.left)
        yield from _parts(node.right)
    elif not isinstance(node, ast.Constant) and not re.search(r"eps", ast.unparse(node), re.IGNORECASE):
        yield node


def _own_value(index: FileIndex, node: ast.expr) -> ast.expr:
    """What a variable or an attribute was given in the function that it is read in."""
    owner = function_of(index, node)
    if isinstance(node, ast.Name):
        value = value_of(index, node)
        given = {one.arg for one in owner.args.args} if isinstance(owner, ast.FunctionDef) else set()
        return value if node.id not in given and function_of(index, value) is owner else node
    if isinstance(node, ast.Attribute):
        values = [
            value
            for one in ast.walk(owner)
            for target, value in assigned(one)
            if ast.unparse(target) == ast.unparse(node)
        ]
        return values[0] if len(values) == 1 else node
    return node


def _whose(call: ast.Call) -> ast.expr | None:
    """What a figure is taken of: `rows` of `rows.mean(0)` and of `np.mean(rows, 0)`."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    library = isinstance(owner, ast.Name) and owner.id in ("np", "numpy", "torch", "jnp", "tf", "ops")
    return (call.args[0] if call.args else None) if owner is None or library else owner


def _row_wise(call: ast.Call) -> bool:
    axes = [ast.unparse(word.value) for word in call.keywords if word.arg in ("axis", "dim")]
    return any(text in ROW_WISE for text in (*axes, *(ast.unparse(one) for one in call.args)))


def _held_out(files: Sequence[FileIndex], index: FileIndex, node: ast.expr, rows: ast.expr) -> str:
    """The held-out rows that an expression scales: by their name, where other rows are scaled the same way;
    in a loop over splits; as what a function or class is given beside its training rows. Empty where there
    are none."""
    name = base_name(rows)
    if HELD_OUT.search(name):
        return name if _others(index, node, name) else ""
    looped = _looped(index, node)
    if looped:
        return looped
    given = splits_given(files, index, node, name)
    held = [one for one in given if HELD_OUT.search(one)]
    return held[0] if held and len(held) < len(given) else ""


def splits_given(files: Sequence[FileIndex], index: FileIndex, node: ast.AST, name: str) -> list[str]:
    """The splits that the function or class around a node is called for, where this argument is its rows."""
    owner = function_of(index, node)
    if not isinstance(owner, ast.FunctionDef) or name not in {one.arg for one in owner.args.args}:
        return []
    above = index.parents.get(owner)
    maker = above.name if isinstance(above, ast.ClassDef) and owner.name == "__init__" else owner.name
    calls = [(file, call) for file in files for call in file.calls if called(call) == maker]
    return [split for file, call in calls for split in _split(file, call)]


def _others(index: FileIndex, node: ast.expr, name: str) -> bool:
    """Whether rows that are not held out are scaled as well."""
    return any(
        isinstance(one, ast.BinOp)
        and one is not node
        and isinstance(one.op, ast.Div)
        and isinstance(one.left, ast.BinOp)
        and isinstance(one.left.op, ast.Sub)
        and (other := base_name(one.left.left)) not in ("", name)
        and not HELD_OUT.search(other)
        for one in ast.walk(index.tree)
    )


def _looped(index: FileIndex, node: ast.AST) -> str:
    """The held-out split of a loop or comprehension whose variable is scaled: `for part in (train, test)`."""
    inner = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    while node in index.parents:
        node = index.parents[node]
        if isinstance(node, ast.FunctionDef):
            return ""
        loops = [node] if isinstance(node, ast.For) else getattr(node, "generators", [])
        for loop in loops:
            parts = loop.iter.elts if isinstance(loop.iter, ast.Tuple | ast.List) else []
            words = [str(one.value) if isinstance(one, ast.Constant) else base_name(one) for one in parts]
            held = [word for word in words if HELD_OUT.search(word)]
            if (
                held
                and len(held) < len(words)
                and isinstance(loop.target, ast.Name)
                and loop.target.id in inner
            ):
                return held[0]
    return ""


def _split(index: FileIndex, call: ast.Call) -> Sequence[str]:
    """The name of the split that a call is for: what it is given, else what its answer is called. A call with
    a figure from elsewhere counts for nothing."""
    if any(
        re.search(r"mean|std|stat|scal|norm", ast.unparse(one)) for one in (*call.args[1:], *call.keywords)
    ):
        return ()
    first = base_name(call.args[0]) if call.args else ""
    above = index.parents.get(call)
    stored = [ast.unparse(target) for target, _ in assigned(above)] if isinstance(above, ast.Assign) else []
    return [first] if SPLIT.search(first) else [*stored[:1]] or [first]


def _from_library(index: FileIndex, call: ast.Call) -> bool:
    """Whether a function of this name is the library's."""
    return bool(re.search(rf"import [^\n]*\b(?:{called(call)}|preprocessing|stats)\b", index.text))


def base_name(node: ast.expr) -> str:
    """The variable that is read, without what is taken of it, or the split that is taken: `x_test` of
    `x_test[:, 1:].values`, `test` of `data["test"]`."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        key = node.slice if isinstance(node, ast.Subscript) else None
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            return key.value
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
