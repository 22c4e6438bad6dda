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
import re
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
from reenact.faults.facts.flow import number
from reenact.faults.facts.lines import indexes, place_in
from reenact.faults.facts.parts import all_parts, called, is_call, is_sum
from reenact.faults.facts.places import says
from reenact.program.syntax.index import FileIndex

LEFT = 0.5
LEAST, MOST = 0.9, 1.0
AVERAGES = re.compile(r"ema|average|averag|shadow|polyak|swa", re.IGNORECASE)
TARGETS = re.compile(r"target|teacher|momentum_enc|key_enc|byol|moco|dino", re.IGNORECASE)
"""Copies that are slow on purpose: they are learned from, and nobody judges by them."""
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
    steps = evidence.watched.step_count
    if (
        evidence.was_cut_off
        or steps < FEWEST
        or says(evidence, "num_updates", "bias_correct", "debias")
    ):
        return
    for index in indexes(evidence):
        for place, decay in _decays(index):
            value = float(str(decay.value))
            if LEAST <= value < MOST and value**steps > LEFT and not _begins_faster(index, place):
                left = f"{value**steps:.0%} of the average is its start"
                saw = f"decay {value:g}: after {steps} steps {left}"
                yield detector.finding(
                    evidence,
                    saw,
                    place=place_in(index, decay),
                )
                return


def _decays(index: FileIndex) -> Iterator[tuple[ast.Call | ast.BinOp, ast.Constant]]:
    """Where an average takes up new weights, and the number that it keeps of the old ones."""
    for node in (one for one in all_parts(index.tree) if isinstance(one, ast.Call | ast.BinOp)):
        kept = _kept(node)
        known = number(index, kept) if kept is not None and _is_average(index, node) else None
        if known is not None:
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
        if called(node).startswith("get_ema") and node.args:
            return node.args[0]
    elif is_sum(node, ast.Add):
        products = [side for side in (node.left, node.right) if is_sum(side, ast.Mult)]
        factors = [factor for product in products for factor in (product.left, product.right)]
        rests = {ast.unparse(rest) for factor in factors if (rest := _one_less(factor)) is not None}
        return next(
            (factor for factor in factors if ast.unparse(factor) in rests),
            None,
        )
    return None


def _one_less(node: ast.expr) -> ast.expr | None:
    """`decay` of `1 - decay`."""
    if is_sum(node, ast.Sub) and ast.unparse(node.left) in ("1", "1.0"):
        return node.right
    return None


def _is_average(index: FileIndex, node: ast.AST) -> bool:
    """Whether the update, its loop, its function or its class speaks of an average, and of no
    target.
    """
    around = index.ancestors(node)
    texts = [ast.unparse(one) for one in (node, *around) if one is node or isinstance(one, ast.For)]
    texts += [one.name for one in around if isinstance(one, ast.FunctionDef | ast.ClassDef)]
    text = " ".join(texts)
    return bool(AVERAGES.search(text)) and not TARGETS.search(text)


def _begins_faster(index: FileIndex, node: ast.AST) -> bool:
    """Whether the decay grows with the steps, or what it lacks is divided out: both need the
    count.
    """
    around = takewhile(
        lambda one: not isinstance(one, ast.ClassDef),
        index.ancestors(node),
    )
    inside = [part for one in around if isinstance(one, ast.FunctionDef) for part in ast.walk(one)]
    return any(is_call(one, "min", "minimum") or is_sum(one, ast.Pow) for one in inside)
