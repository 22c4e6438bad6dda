"""Rows that a program draws, repeats or cuts into windows, and where it splits them afterwards."""

import ast
from collections.abc import Sequence

from reenact.program.flow.constants import constant_of
from reenact.program.flow.uses import Link, spread, stores, value_of
from reenact.program.syntax.excerpt import excerpt, same
from reenact.program.syntax.index import FileIndex
from reenact.program.syntax.pieces import (
    Found,
    all_parts,
    called,
    calls_in,
    function_of,
    is_call,
    is_constant,
    keyword,
    last_word,
    loops_of,
    names,
    within,
)

RESAMPLES = ("resample", "fit_resample", "oversample")
JOINS = ("concatenate", "vstack", "append", "cat", "concat")
REPEATS = ("choice", "repeat", "tile", "resample")
DRAWS = ("permutation", "randperm")
SPLITS = ("train_test_split", "random_split")
CHOSEN = ("flatnonzero", "nonzero", "where", "argwhere")
"""What gives numbers of rows that were chosen by what they hold."""
PLACES = (*CHOSEN, "arange", "range", "len")
"""What gives numbers of rows, or other numbers that are counted up to."""
RESAMPLERS = ("resample", "fit_resample")


def repeated_before(files: Sequence[FileIndex]) -> bool:
    """Whether the text repeats rows before it splits them."""
    for index in files:
        makers = [one for one in index.functions if _repeats_rows(one.node)]
        inside = {call for one in makers for call in within(one.node, ast.Call)}
        wanted = [*RESAMPLES, *(one.name for one in makers)]
        repeats = calls_in(index.tree, *wanted)
        made = [call.lineno for call in repeats if call not in inside]
        splits = [call.lineno for call in calls_in(index.tree, *SPLITS)]
        if made and splits and min(made) < max(splits):
            return True
    return False


def _repeats_rows(function: ast.AST) -> bool:
    return bool(calls_in(function, *REPEATS)) and bool(calls_in(function, *JOINS))


def split_by_chance(index: FileIndex) -> Found:
    """Where windows of one series that overlap are split by chance: what is held out lies between
    what was trained on, and shares all but its ends with it.
    """
    slides = [one.name for one in index.functions if _slides(one.node)]
    makers = ("sliding_window_view", *slides)
    made: set[str] = set()
    drawn: set[str] = set()
    links: list[Link] = []
    for target, value in stores(index.tree):
        stored = names(target, ast.Store)
        links.append((names(value), stored))
        if calls_in(value, *makers) or _slides(value):
            made |= stored
        if calls_in(value, *DRAWS):
            drawn |= stored
    windows = spread(made, links)
    for call in calls_in(index.tree, *SPLITS) if windows else ():
        by_chance = keyword(call, "shuffle") is None and call.args
        if by_chance and windows & names(call.args[0]):
            yield call, f"{excerpt(call)} splits overlapping windows at random"
    for one in within(index.tree, ast.Subscript):
        # Batches are drawn by chance too, in the loop of a training.
        if windows & names(one.value) and drawn & names(one.slice) and not loops_of(one):
            yield one, f"{excerpt(one)} takes overlapping windows at random"


def _slides(node: ast.AST) -> bool:
    """Whether something takes `series[i:i + width]` for every i of a range, one after the other."""
    numbers: set[str] = set()
    for loop in all_parts(node):
        if not isinstance(loop, ast.For | ast.comprehension):
            continue
        counts = is_call(loop.iter, "range") and len(loop.iter.args) < 3
        if counts and isinstance(loop.target, ast.Name):
            numbers.add(loop.target.id)
    for one in within(node, ast.Slice):
        match one:
            case ast.Slice(ast.Name(start), ast.BinOp(ast.Name(end), ast.Add())):
                if start == end and start in numbers:
                    return True
    return False


def copied_before(index: FileIndex) -> Found:
    """Draws with replacement of rows that are split afterwards, and where."""
    copying = [call for call in index.calls if _copies(call)]
    own = {getattr(function_of(call), "name", "") for call in copying} - {""}
    # A function of the program that draws is a draw where it is called.
    for draw in (*copying, *(call for call in index.calls if called(call) in own)):
        split = _split_later(draw)
        rows = called(draw) in own.union(RESAMPLERS) or _is_made_by(draw.args[0], CHOSEN)
        # Two halves of what is drawn are two sets of rows: no batch, no labels or tokens by chance.
        if split is not None and (is_call(split) or (rows and not loops_of(draw))):
            yield draw, f"{excerpt(draw)} comes before the split in line {split.lineno}"


def _copies(call: ast.Call) -> bool:
    """Whether a call gives rows, or numbers of rows, some of them several times."""
    again = keyword(call, "replace")
    is_true = is_constant(constant_of(again), True)
    if called(call) in RESAMPLERS:
        return again is None or is_true
    drawn = called(call) == "choice" and is_true and bool(call.args)
    return drawn and _is_made_by(call.args[0], PLACES)


def _is_made_by(value: ast.expr, makers: Sequence[str]) -> bool:
    parts = [value, *map(value_of, within(value, ast.Name))]
    return any(calls_in(part, *makers) for part in parts)


def _split_later(draw: ast.Call) -> ast.expr | None:
    """The split of the rows that were drawn, by a call or by two slices; none where they are
    not split.
    """
    scope = function_of(draw)
    drawn: set[str] = set()
    statements = [one for one in all_parts(scope) if isinstance(one, ast.Assign | ast.Expr)]
    for statement in sorted(statements, key=lambda one: one.lineno):
        value = statement.value
        if statement.lineno < draw.lineno:
            continue
        touched = _reads(value, draw, drawn)
        split = next(iter(calls_in(value, *SPLITS)), None)
        if touched and split is not None:
            return split
        for first in within(value, ast.Subscript):
            cuts = within(scope, ast.Subscript)
            if last_word(first.value) in drawn and any(_is_rest(one, first) for one in cuts):
                return first
        # Arithmetic makes new rows of them: centres of classes with noise, say.
        counted = any(_reads(node, draw, drawn) for node in within(value, ast.BinOp))
        if touched and not counted and isinstance(statement, ast.Assign):
            drawn |= {name for target in statement.targets for name in names(target)}
    return None


def _reads(value: ast.expr, draw: ast.Call, drawn: set[str]) -> bool:
    """Whether something is computed of what was drawn."""
    return draw in all_parts(value) or not drawn.isdisjoint(names(value))


def _is_rest(node: ast.Subscript, first: ast.Subscript) -> bool:
    """`rows[cut:]` for `rows[:cut]`."""
    match first, node:
        case (
            ast.Subscript(ast.Name(rows), ast.Slice(None, ast.expr() as end)),
            ast.Subscript(ast.Name(name), ast.Slice(ast.expr() as begin, None, None)),
        ):
            return name == rows and same(begin, end)
    return False
