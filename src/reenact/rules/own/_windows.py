"""Windows of a series that overlap and are split by chance, in the text."""

import ast
from collections.abc import Iterator

from reenact.program.read.index import FileIndex
from reenact.rules.own._flow import stores
from reenact.rules.own._lines import loops_of
from reenact.rules.own._parts import is_call, names, options, within

DRAWS = ("permutation", "randperm")
DEEP = 4
"""Assignments that are followed in a row."""


def windows_split_by_chance(index: FileIndex) -> Iterator[tuple[ast.expr, str]]:
    """Where windows of one series that overlap are split by chance: what is held out lies between what was
    trained on, and shares all but its ends with it."""
    makers = {one.name for one in index.functions if _slides(one.node)} | {"sliding_window_view"}
    stored = [(names(target, ast.Store), value) for target, value in stores(index.tree)]
    reached: set[str] = set()
    for _ in range(DEEP):
        for targets, value in stored:
            made = any(is_call(one, *makers) for one in ast.walk(value)) or _slides(value)
            if made or reached & names(value):
                reached |= targets
    by_chance = [targets for targets, value in stored if any(is_call(one, *DRAWS) for one in ast.walk(value))]
    drawn = {name for targets in by_chance for name in targets}
    for call in index.calls if reached else ():
        splits = is_call(call, "train_test_split", "random_split") and "shuffle" not in options(call)
        if splits and call.args and reached & names(call.args[0]):
            yield call, f"{ast.unparse(call)[:60]} splits overlapping windows at random"
            return
    for one in within(index.tree, ast.Subscript):
        # Batches are drawn by chance too, in the loop of a training.
        if reached & names(one.value) and drawn & names(one.slice) and not loops_of(index, one):
            yield one, f"{ast.unparse(one)[:60]} takes overlapping windows at random"
            return


def _slides(node: ast.AST) -> bool:
    """Whether something takes `series[i:i + width]` for every i of a range, one after the other."""
    loops: list[ast.For | ast.comprehension] = [
        one for one in ast.walk(node) if isinstance(one, ast.For | ast.comprehension)
    ]
    counted = [one for one in loops if is_call(one.iter, "range") and len(one.iter.args) < 3]
    numbers = {one.target.id for one in counted if isinstance(one.target, ast.Name)}
    for one in ast.walk(node):
        match one:
            case ast.Subscript(slice=ast.Slice(ast.Name(start), ast.BinOp(ast.Name(end), ast.Add()))):
                if start == end and start in numbers:
                    return True
    return False
