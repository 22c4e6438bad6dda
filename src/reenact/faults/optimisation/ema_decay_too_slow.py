"""OP14 ema-decay-too-slow

What
    An exponential average of the weights has a decay so near to one that, at the end of the run, more than
    half of it is still the weights it began with.
Why
    After n steps the share decay**n of an average is its start. With a decay of 0.9999 it takes 7,000 steps
    until half of it has been learned.
Symptom
    The model itself learns; what the average is asked for looks untrained.
Example
    import copy
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    ema = copy.deepcopy(model).requires_grad_(False)
    decay = 0.9999
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(60):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        with torch.no_grad():
            for old, new in zip(ema.parameters(), model.parameters()):
                old.mul_(decay).add_(new, alpha=1 - decay)
    print("accuracy", (ema(x).argmax(1) == y).float().mean().item())
Instead
    - decay = 0.9999
    + decay = 0.9
Fix safety
    Safe for the training: only the average changes.
Sources
    Documentation of torch.optim.swa_utils; Song et al., "Score-Based Generative Modeling", 2021, appendix
    on averages.
"""

import ast
from collections.abc import Iterator
from itertools import takewhile

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    Findings,
    Needs,
    Observes,
    Severity,
)
from reenact.faults.facts.imbalances import imbalances
from reenact.program.flow.constants import constant_of
from reenact.program.flow.holders import holders
from reenact.program.flow.uses import assigned, names_that_reach, number
from reenact.program.syntax.excerpt import same
from reenact.program.syntax.index import FileIndex, statement_of
from reenact.program.syntax.pieces import (
    all_parts,
    called,
    calls_in,
    file_of,
    is_constant,
    is_sum,
    last_word,
    owner_of,
    place_of,
    within,
)
from reenact.program.training.roles import is_loss_call, is_without_gradients, losses

LEFT = 0.5
LEAST, MOST = 0.9, 1.0
AVERAGERS = ("get_ema_avg_fn", "get_ema_multi_avg_fn")
FEWEST = 20
FAULT = Fault(
    code="OP14",
    name="ema-decay-too-slow",
    category=Category.OPTIMISATION,
    page=__doc__,
)


@FAULT.detector(
    "RE061",
    "average-too-slow",
    "reenact",
    needs=Needs.TRACE,
    observes=Observes.WEIGHTS,
    why="Most of this average is still what it began with.",
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def average_too_slow(detector: Detector, evidence: Evidence) -> Findings:
    """An exponential average of the weights has a decay so near to one that, at the end of the run,
    more than half of it is still the weights it began with.

    Documentation of torch.optim.swa_utils; Song et al., "Score-Based Generative Modeling", 2021,
    appendix on averages.
    """
    steps = evidence.step_count
    if evidence.was_cut_off or steps < FEWEST:
        return
    learned_from = {name for index in evidence.files for name in _learned_from(index)}
    for index in evidence.files:
        for update, decay in _decays(evidence, index, learned_from):
            value = float(str(decay.value))
            if LEAST <= value < MOST and value**steps > LEFT and not _begins_faster(update):
                left = f"{value**steps:.0%} of the average is its start"
                saw = f"decay {value:g}: after {steps} steps {left}"
                yield detector.finding(evidence, saw, place=place_of(decay))
                return


@FAULT.detector(
    "RE125",
    "average-of-old-weights",
    "reenact",
    needs=Needs.ACCOUNTS,
    observes=Observes.WEIGHTS,
    why="What the average is asked for is an untrained model.",
    severity=Severity.ERROR,
    confidence=0.85,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def average_of_old_weights(detector: Detector, evidence: Evidence) -> Findings:
    """A model that no optimizer moves is a mixture of what the learning one began with and what it
    has become, mostly of the former, and it is asked.

    Documentation of torch.optim.swa_utils.
    """
    yield from imbalances(detector, evidence)


def _learned_from(index: FileIndex) -> set[str]:
    """What goes into a loss that is differentiated: a target network among them, which is slow on
    purpose, and no average that is only asked.
    """
    compared = [one for one in filter(is_loss_call, index.calls) if not is_without_gradients(one)]
    return names_that_reach(index, [*losses(index), *compared])


def _decays(
    evidence: Evidence, index: FileIndex, learned_from: set[str]
) -> Iterator[tuple[ast.Call | ast.BinOp, ast.Constant]]:
    """Where an average takes up new weights, and the number that it keeps of the old ones."""
    for node in (one for one in all_parts(index.tree) if isinstance(one, ast.Call | ast.BinOp)):
        kept = _kept(node)
        known = number(kept) if kept is not None else None
        copies = _copies(evidence, node) if known is not None else set()
        averages = bool(copies) and not copies & learned_from and not _sees_gradients(node)
        if known is not None and averages:
            yield node, known


def _kept(node: ast.Call | ast.BinOp) -> ast.expr | None:
    """The decay in `old.mul_(decay)` before `add_`, `decay * old + (1 - decay) * new`,
    `old.lerp_(new, 1 - decay)` and `get_ema_avg_fn(decay)`.
    """
    if isinstance(node, ast.Call):
        if called(node) == "mul_" and len(node.args) == 1:
            return node.args[0]
        if called(node) == "lerp_" and len(node.args) == 2:
            return _one_less(node.args[1])
        if called(node) in AVERAGERS and node.args:
            return node.args[0]
    elif is_sum(node, ast.Add):
        products = [side for side in (node.left, node.right) if is_sum(side, ast.Mult)]
        factors = [factor for product in products for factor in (product.left, product.right)]
        rests = [rest for factor in factors if (rest := _one_less(factor)) is not None]
        return next(
            (factor for factor in factors if any(same(factor, rest) for rest in rests)),
            None,
        )
    return None


def _one_less(node: ast.expr) -> ast.expr | None:
    """`decay` of `1 - decay`."""
    match node:
        case ast.BinOp(whole, ast.Sub(), rest) if is_constant(constant_of(whole), 1, 1.0):
            return rest
    return None


def _sees_gradients(node: ast.AST) -> bool:
    """Whether the loop around handles gradients, as an optimizer of one's own does."""
    loops = (one for one in file_of(node).ancestors(node) if isinstance(one, ast.For))
    loop = next(loops, None)
    return loop is not None and any(one.attr == "grad" for one in within(loop, ast.Attribute))


def _copies(evidence: Evidence, node: ast.Call | ast.BinOp) -> set[str]:
    """What holds the weights that an update moves; nothing where it moves no weights."""
    if called(node) in AVERAGERS:
        return {last_word(target) for target, _ in assigned(statement_of(node))} - {""}
    old = owner_of(node) if isinstance(node, ast.Call) else _moved(node)
    if old is not None:
        return set(holders(evidence.files, old))
    return set()


def _moved(node: ast.BinOp) -> ast.expr | None:
    """`old` of `decay * old + (1 - decay) * new`."""
    kept = _kept(node)
    for side in (node.left, node.right):
        if isinstance(side, ast.BinOp):
            if same(side.left, kept):
                return side.right
            if same(side.right, kept):
                return side.left
    return None


def _begins_faster(node: ast.Call | ast.BinOp) -> bool:
    """Whether the decay grows with the steps, or what it lacks is divided out: both need the
    count.
    """
    index = file_of(node)
    kept = last_word(_kept(node))
    powers = [one for one in within(index.tree, ast.BinOp) if is_sum(one, ast.Pow)]
    if kept and any(last_word(one.left) == kept for one in powers):
        return True
    above = takewhile(lambda one: not isinstance(one, ast.ClassDef), index.ancestors(node))
    functions = [one for one in above if isinstance(one, ast.FunctionDef)]
    return any(
        calls_in(one, "min", "minimum") or any(power in powers for power in within(one, ast.BinOp))
        for one in functions
    )
