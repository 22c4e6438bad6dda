"""Hyperparameters of a training that is written out: the rate of a step without an optimizer, and
the number of rows that are drawn for one.

They are found by what is done with them: a rate multiplies a gradient, a batch size says how many
numbers of rows are drawn in each round.
"""

import ast
from collections.abc import Iterator

from reenact.program.flow.library_names import last_name
from reenact.program.hyperparameter import Kind
from reenact.program.syntax.calls import argument, keyword, method_name
from reenact.program.syntax.index import statement_of
from reenact.program.syntax.scope import FileIndex
from reenact.program.training.analysis import Draft, EditSite, ProgramAnalysis, Style
from reenact.program.training.loops import Loops

UPDATES = ("add_", "sub_", "add", "sub")
"""Methods that move a tensor."""
DRAWS: dict[str, tuple[int | None, str]] = {
    "randint": (None, "size"),
    "integers": (2, "size"),
    "choice": (1, "size"),
    "choices": (None, "k"),
    "sample": (1, "k"),
}
"""Functions of random, numpy and torch that draw numbers of rows, and where they take how many."""
HOMES = ("random.", "numpy.random.", "torch.")


def read_by_hand(loops: Loops, drafts: list[Draft]) -> Iterator[Draft]:
    """Drafts of the kinds that no other reader found."""
    written = {draft.kind for draft in drafts if not draft.param.absent}
    trained = {draft.kind for draft in drafts} & {Kind.OPTIMIZER, Kind.LOSS}
    analysis = loops.analysis
    if trained and Kind.LEARNING_RATE not in written:
        for index in analysis.sources.indexes.values():
            for rate in _rates(index):
                yield from _drafts(analysis, Kind.LEARNING_RATE, rate)
    if trained and Kind.BATCH_SIZE not in written:
        for call in analysis.calls():
            count = _drawn(analysis, call)
            if count is not None and loops.in_loop(call):
                yield from _drafts(analysis, Kind.BATCH_SIZE, count)


def _drafts(analysis: ProgramAnalysis, kind: Kind, value: ast.expr) -> Iterator[Draft]:
    site = EditSite(Style.VALUE, "torch", node=statement_of(value))
    for draft in analysis.value_drafts(kind, value, site):
        number = draft.param.value
        if isinstance(number, int | float) and not isinstance(number, bool) and number > 0:
            yield draft


def _rates(index: FileIndex) -> Iterator[ast.expr]:
    """`rate` of `weight -= rate * weight.grad` and of `weight.add_(weight.grad, alpha=-rate)`."""
    for node in index.nodes:
        if not isinstance(node, ast.Attribute) or node.attr != "grad":
            continue
        if not isinstance(node.ctx, ast.Load):
            continue
        for part in index.ancestors(node):
            if isinstance(part, ast.stmt):
                break
            rate = _beside(part, node)
            if rate is not None:
                yield _without_sign(rate)
                break


def _beside(part: ast.AST, gradient: ast.AST) -> ast.expr | None:
    """What a gradient is multiplied by, in a product or in an update."""
    if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mult):
        if gradient in ast.walk(part.right):
            return part.left
        return part.right
    if isinstance(part, ast.Call) and method_name(part) in UPDATES:
        alpha = keyword(part, "alpha")
        if alpha is None and len(part.args) == 2:
            return part.args[0]
        return alpha
    return None


def _without_sign(value: ast.expr) -> ast.expr:
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        return value.operand
    return value


def _drawn(analysis: ProgramAnalysis, call: ast.Call) -> ast.expr | None:
    """How many numbers a call draws."""
    name = method_name(call)
    dotted = analysis.callees.dotted(call)
    if dotted:
        name = last_name(dotted) if dotted.startswith(HOMES) else ""
    if name not in DRAWS:
        return None
    position, word = DRAWS[name]
    size = argument(call, position, word)
    if size is None and name == "randint":
        # `torch.randint(rows, (size,))`, `torch.randint(0, rows, (size,))`.
        size = next((one for one in call.args if isinstance(one, ast.Tuple)), None)
    if isinstance(size, ast.Tuple):
        return size.elts[0] if len(size.elts) == 1 else None
    return size
