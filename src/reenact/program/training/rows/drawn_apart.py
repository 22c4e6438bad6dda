"""Where inputs and labels are drawn, turned or repeated apart from each other: two shuffles, a flip of one of
them, a target that is drawn a second time."""

import ast
from collections.abc import Sequence

from reenact.program.flow.constants import constant_of, read_through
from reenact.program.flow.uses import assigned, value_of
from reenact.program.syntax.excerpt import excerpt, key_of, same
from reenact.program.syntax.index import FileIndex
from reenact.program.syntax.pieces import (
    Found,
    all_parts,
    called,
    calls_in,
    elements,
    function_of,
    given_as,
    is_call,
    is_constant,
    is_minus,
    is_sum,
    keyword,
    last_word,
    loops_of,
    names,
    owner_of,
    returned,
    within,
)
from reenact.program.training.roles import is_loss_call
from reenact.program.training.rows.together import SEEDS, pairs_of_rows

SHUFFLES = ("shuffle", "permutation", "randperm", "permute_rows")


DRAWS = ("randn", "randn_like", "rand", "rand_like", "normal")


TURNS = (
    "flip",
    "fliplr",
    "flipud",
    "rot90",
    "hflip",
    "vflip",
    "rotate",
    "affine",
    "roll",
)


MOVES = ("randperm", "permutation", "roll", "flip", "randint", "argsort")
"""What makes numbers of rows that are not those of the diagonal; soft targets may lie anywhere."""


def drawn_apart(index: FileIndex) -> Found:
    """What the text shows."""
    for look in (_zipped, _random, _turned_alone, _off_the_diagonal, _repeated_otherwise):
        yield from look(index)
    own = {scope.name for scope in index.functions if _draws(scope.node)}
    for node in all_parts(index.tree):
        body = getattr(node, "body", None)
        pair = _separate(index, body, own) if isinstance(body, list) else None
        if pair is not None:
            yield pair[2], f"{pair[0]} and {pair[1]} are shuffled by separate draws"


def _zipped(index: FileIndex) -> Found:
    """Two loaders, each shuffled by itself, over two arrays that one call made for each other."""
    for call in calls_in(index.tree, "zip"):
        sets = {name for one in call.args if (name := _only_array(value_of(one)))}
        unpacked = within(index.tree, ast.Assign) if len(call.args) == len(sets) == 2 else ()
        made = (node.targets[0] for node in unpacked if is_call(node.value))
        if any(sets <= set(map(key_of, elements(target))) for target in made):
            both = " and ".join(excerpt(one) for one in call.args)
            yield call, f"{both} are shuffled by separate draws"


def _only_array(loader: ast.expr) -> str:
    """The one variable that a shuffling loader reads."""
    if not is_call(loader, "DataLoader") or not loader.args:
        return ""
    data = value_of(loader.args[0])
    if is_call(data, "TensorDataset") and len(data.args) == 1:
        data = data.args[0]
    by_itself = keyword(loader, "generator", "sampler") is None
    shuffled = by_itself and is_constant(constant_of(keyword(loader, "shuffle")), True)
    if shuffled and isinstance(data, ast.Name):
        return data.id
    return ""


def _off_the_diagonal(index: FileIndex) -> Found:
    """One set of labels for scores of pairs and for the same turned round: only the diagonal is
    both.
    """
    made = [call.args for call in calls_in(index.tree, "cross_entropy") if len(call.args) > 1]
    for scores, label, *_ in made:
        given = value_of(label)
        turned = any(same(other[1], label) and same(_unturned(other[0]), scores) for other in made)
        if turned and given is not label and _is_moved(given):
            saw = f"{excerpt(label)} is {excerpt(given, 40)}, and for rows and columns of "
            yield given, f"{saw}{excerpt(scores)} alike: expected torch.arange"


def _unturned(node: ast.expr) -> ast.expr | None:
    """`x` of `x.T` and of `x.t()`."""
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
        return node.value
    return owner_of(node) if is_call(node, "t") else None


def _is_moved(node: ast.expr) -> bool:
    rest = any(is_sum(part, ast.Mod) for part in within(node, ast.BinOp))
    return rest or bool(calls_in(node, *MOVES))


def _repeated_otherwise(index: FileIndex) -> Found:
    """Rows that are joined copy after copy, and labels in the same function that are repeated
    one by one.
    """
    for call in calls_in(index.tree, "repeat_interleave"):
        times = constant_of(next(iter(call.args), None))
        joined = [one for one in calls_in(function_of(call), "cat", "concatenate") if one.args]
        copies = [one for one in joined if is_constant(times, len(elements(one.args[0])))]
        if any(_are_returned(call, one) for one in copies):
            saw = f"{excerpt(call)} repeats row by row, and the rows next to it are joined"
            yield call, f"{saw} copy by copy"


def _are_returned(first: ast.expr, second: ast.expr) -> bool:
    """Whether a function gives back two values side by side."""
    answers = (elements(answer) for answer in returned(function_of(first)))
    return any({first, second} <= set(map(value_of, parts)) for parts in answers)


def _random(index: FileIndex) -> Found:
    """A target that is drawn in the loop and that nothing but the loss reads: no input knows of
    it.
    """
    for call in filter(is_loss_call, index.calls):
        for target in call.args[1:2]:
            drawn = value_of(target)
            name = last_word(target)
            if drawn is target or not is_call(drawn, *DRAWS):
                continue
            used = [one for one in within(function_of(call), ast.Name) if one.id == name]
            inputs = map(value_of, within(call.args[0], ast.Name))
            once = sum(isinstance(one.ctx, ast.Load) for one in used) == 1
            if once and loops_of(drawn) and not any(is_call(one, *DRAWS) for one in inputs):
                yield call, f"{name} is drawn by chance, and only the loss reads it"


def _turned_alone(index: FileIndex) -> Found:
    """An image that is flipped or turned alone where another statement turns it and what is returned
    with it.
    """
    for function in within(index.tree, ast.FunctionDef):
        given = {name for answer in returned(function) for name in names(answer)}
        turned = [(_turned(one) & given, one) for one in within(function, ast.Assign)]
        both = [moved for moved, _ in turned if len(moved) > 1]
        alone = [(min(moved), one) for moved, one in turned if len(moved) == 1]
        for name, statement in alone:
            beside = {other for moved in both if name in moved for other in moved - {name}}
            block = getattr(index.parents.get(statement), "body", [])
            # What is given a new value in the same block may be turned too.
            if beside and not any(beside & names(one, ast.Store) for one in block):
                other = min(beside)
                yield statement, f"{name} is turned, {other} stays as it was"
                break


def _turned(node: ast.Assign) -> set[str]:
    """Variables that a statement turns, flips or moves."""
    pairs = [(last_word(target), value) for target, value in assigned(node)]
    return {name for name, value in pairs if name in names(value) and _is_turned(value)}


def _is_turned(node: ast.expr) -> bool:
    """Whether rows are read backwards, or an image is flipped or turned."""
    slices = within(node, ast.Slice)
    steps = [read_through(part.step) for part in slices if part.step is not None]
    backwards = any(is_minus(step) and is_constant(step.operand, 1) for step in steps)
    return backwards or bool(calls_in(node, *TURNS))


def _draws(function: ast.AST) -> bool:
    """A function that brings its only argument into a new order by chance."""
    if not isinstance(function, ast.FunctionDef) or len(function.args.args) != 1:
        return False
    return bool(calls_in(function, *SHUFFLES)) and not _is_seeded(function)


def _is_seeded(node: ast.AST) -> bool:
    """Whether a draw in it can be repeated."""
    return bool(calls_in(node, *SEEDS) or given_as(calls_in(node), "seed", "random_state"))


def _separate(
    index: FileIndex, body: Sequence[ast.stmt], own: set[str]
) -> tuple[str, str, ast.stmt] | None:
    """Inputs that are shuffled, and labels in one of the next statements, nothing between that
    says how.
    """
    first = ""
    for statement in body:
        name = _shuffled(statement, own)
        if first and name != first and frozenset((first, name)) in pairs_of_rows(index):
            return first, name, statement
        seeded = first and not name and _is_seeded(statement)
        first = "" if seeded else name or first
    return None


def _shuffled(statement: ast.stmt, own: set[str]) -> str:
    """The variable that a statement brings into a new order of its own."""
    match statement:
        case ast.Expr(ast.Call(_, [ast.Name(name)], []) as call) if called(call) == "shuffle":
            return name
        case ast.Assign([ast.Name(name), *_], ast.Call(_, [ast.Name(given)]) as call):
            if given == name and called(call) in own:
                return name
            return ""
        case ast.Assign([ast.Name(name), *_], ast.Subscript(ast.Name(rows), drawn)):
            draws = rows == name and is_call(drawn, *SHUFFLES)
            return name if draws and not _is_seeded(drawn) else ""
    return ""
