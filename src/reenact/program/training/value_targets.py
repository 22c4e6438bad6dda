"""Targets of a value function: sums of a reward and a value of the next state, and whether the end of
an episode enters them."""

import ast
from collections.abc import Iterator, Sequence
from itertools import takewhile

from reenact.program.flow.uses import spread, stores
from reenact.program.syntax.index import FileIndex
from reenact.program.syntax.pieces import (
    called,
    elements,
    file_of,
    function_of,
    is_sum,
    names,
    within,
)

FEWEST = 4
"""State, reward, next state and end: what a step is remembered by at least."""


ENDS_OF_STEP = {4: (2,), 5: (2, 3)}
"""Where `env.step()` of gym, with four results or five, says that an episode is over."""


Form = tuple[int, int]
"""How many things a step is remembered by, and the place of its end among them."""


def targets_without_ends(files: Sequence[FileIndex]) -> list[tuple[ast.BinOp, set[str]]]:
    """Targets of a program that notes where episodes end, where the end enters none of them, and
    the variables that hold the end.
    """
    forms = {form for index in files for form in _kept(index)}
    if not forms:
        return []
    targets = [target for index in files for target in _targets(index, forms)]
    if any(_enters(*target) for target in targets):
        return []
    return [(node, ends) for node, _, ends in targets]


def _kept(index: FileIndex) -> Iterator[Form]:
    """Steps that are kept with a truth among them: the end of the episode."""
    ends = {name for target, value in stores(index.tree) for name in _of_step(target, value)}
    for call in index.calls:
        kept = elements(call.args[0]) if len(call.args) == 1 else call.args
        for place, value in enumerate(kept if len(kept) >= FEWEST else ()):
            if names(value) & ends or within(value, ast.Compare):
                yield len(kept), place


def _of_step(target: ast.expr, value: ast.expr) -> Iterator[str]:
    parts = elements(target)
    for place in ENDS_OF_STEP.get(len(parts), ()) if called(value) == "step" else ():
        yield from names(parts[place])


def _targets(index: FileIndex, forms: set[Form]) -> Iterator[tuple[ast.BinOp, set[str], set[str]]]:
    """Sums of one thing that a step is remembered by and a product with a value of another; all
    that a step is remembered by, and its end.
    """
    for target, value in stores(index.tree):
        parts = elements(target)
        known = names(target)
        kept = [part for place, part in enumerate(parts) if (len(parts), place) in forms]
        ends = {name for part in kept for name in names(part)}
        if not ends or called(value) == "step":
            continue
        for node in within(function_of(target), ast.BinOp):
            for plain, product in ((node.left, node.right), (node.right, node.left)):
                rewards = names(plain) & known
                states = (_made_of(node, [product], known) & known) - rewards
                sums = is_sum(node, ast.Add) and is_sum(product, ast.Mult)
                if sums and rewards and states - ends:
                    yield node, known, ends


def _enters(node: ast.BinOp, known: set[str], ends: set[str]) -> bool:
    """Whether the end of an episode goes into a target, or decides on it within its loop or
    function.
    """
    stop = (ast.For, ast.While, ast.FunctionDef)
    above = takewhile(lambda one: not isinstance(one, stop), file_of(node).ancestors(node))
    tests = [one.test for one in above if isinstance(one, ast.If | ast.IfExp)]
    return bool(ends & _made_of(node, [node, *tests], known))


def _made_of(node: ast.expr, parts: Sequence[ast.expr], known: set[str]) -> set[str]:
    """The variables that parts of an expression are made of, back to what is known of a step."""
    # Of `later[ends] = 0` the place as well.
    pairs = [(names(target), names(value)) for target, value in stores(function_of(node))]
    links = [(stored - known, stored | read) for stored, read in pairs]
    return spread({name for part in parts for name in names(part)}, links)
