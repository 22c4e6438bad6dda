"""Hyperparameters of a loop of one's own: epochs, and batches that are cut without a loader."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reenact.program.hyperparameter import Kind
from reenact.program.read.analysis import Draft, ProgramAnalysis, Site, Style
from reenact.program.read.calls import method_name
from reenact.program.read.loops import Loops, LoopSite, count_of, iterated, range_arguments


def read_loops(analysis: ProgramAnalysis, loops: Loops) -> Iterator[Draft]:
    """Drafts of epochs and hand-cut batch sizes."""
    epochs = _epoch_loop(loops)
    if epochs is not None:
        yield from _epochs(analysis, epochs)
    for loop in loops.loops:
        if loop is not epochs:
            yield from _batches(analysis, loop)


def _epoch_loop(loops: Loops) -> LoopSite | None:
    """The loop that counts epochs: by the name of its variable, else the outermost that counts."""
    counting = [loop for loop in loops.loops if _counts(loop)]
    named = [loop for loop in counting if "epoch" in _variable(loop).lower()]
    if named:
        return min(named, key=lambda loop: loop.level)
    outer = [loop for loop in counting if loop.level == 0]
    return outer[0] if outer else None


def _counts(loop: LoopSite) -> bool:
    if isinstance(loop.node, ast.While):
        return _bound(loop.node) is not None
    arguments = range_arguments(iterated(loop.node))
    return arguments is not None and len(arguments) < 3


def _variable(loop: LoopSite) -> str:
    if isinstance(loop.node, ast.While):
        left = loop.node.test.left if isinstance(loop.node.test, ast.Compare) else None
        return ast.unparse(left) if left is not None else ""
    return ast.unparse(loop.node.target)


def _bound(node: ast.While) -> ast.expr | None:
    """`while step < max_steps`."""
    test = node.test
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Lt | ast.LtE):
        return test.comparators[0]
    return None


def _epochs(analysis: ProgramAnalysis, loop: LoopSite) -> Iterator[Draft]:
    if isinstance(loop.node, ast.While):
        use = _bound(loop.node)
    else:
        arguments = range_arguments(iterated(loop.node))
        use = count_of(arguments) if arguments else None
    if use is not None:
        site = Site(Style.VALUE, "torch", loop.scope, node=loop.node)
        yield from analysis.value_drafts(Kind.EPOCHS, use, site)


def _batches(analysis: ProgramAnalysis, loop: LoopSite) -> Iterator[Draft]:
    use = _stride(loop) or _pieces(loop) or _slices(loop)
    if use is not None:
        yield from analysis.value_drafts(
            Kind.BATCH_SIZE, use, Site(Style.VALUE, "torch", loop.scope, node=loop.node)
        )


def _stride(loop: LoopSite) -> ast.expr | None:
    """`for start in range(0, rows, batch_size)`."""
    arguments = range_arguments(iterated(loop.node))
    return arguments[2] if arguments is not None and len(arguments) == 3 else None


def _pieces(loop: LoopSite) -> ast.expr | None:
    """`for rows in torch.randperm(n).split(batch_size)`."""
    value = iterated(loop.node)
    if isinstance(value, ast.Call) and method_name(value) in ("split", "batch") and value.args:
        return value.args[0]
    return None


def _slices(loop: LoopSite) -> ast.expr | None:
    """`rows[b * size : (b + 1) * size]` or `rows[i : i + size]` inside the loop."""
    for part in ast.walk(loop.node):
        if not isinstance(part, ast.Slice) or part.lower is None or not isinstance(part.upper, ast.BinOp):
            continue
        lower, upper = part.lower, part.upper
        if isinstance(upper.op, ast.Mult) and isinstance(lower, ast.BinOp) and isinstance(lower.op, ast.Mult):
            common = [
                one for one in (upper.left, upper.right) for other in (lower.left, lower.right)
                if ast.dump(one) == ast.dump(other)
            ]  # fmt: skip
            if common:
                return common[0]
        if isinstance(upper.op, ast.Add) and ast.dump(upper.left) == ast.dump(lower):
            return upper.right
    return None
