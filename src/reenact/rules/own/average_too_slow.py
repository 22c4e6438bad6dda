"""RE061 average-too-slow

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
    Documentation of torch.optim.swa_utils; Song et al., "Score-Based Generative Modeling", 2021, appendix on
    averages.
"""

import ast
import re
from collections.abc import Iterator

from reenact.program.read.index import FileIndex
from reenact.rules import Certainty, Evidence, Findings, Needs, Rule, Severity
from reenact.rules.own._flow import number
from reenact.rules.own._lines import called, indexes, place_in
from reenact.rules.own._places import says

LEFT = 0.5
LEAST, MOST = 0.9, 1.0
AVERAGES = re.compile(r"ema|average|averag|shadow|polyak|swa", re.IGNORECASE)
TARGETS = re.compile(r"target|teacher|momentum_enc|key_enc|byol|moco|dino", re.IGNORECASE)
"""Copies that are slow on purpose: they are learned from, and nobody judges by them."""
FEWEST = 20


class AverageTooSlow(Rule):
    code, name, family, fault = "RE061", "average-too-slow", "reenact", None
    needs = Needs.TRACE
    severity = Severity.ERROR
    is_root_cause = True
    confidence = 0.9
    certainty = Certainty.STRONG
    why = "Most of this average is still what it began with."

    def check(self, evidence: Evidence) -> Findings:
        steps = evidence.watched.step_count
        if evidence.was_cut_off or steps < FEWEST or says(evidence, "num_updates", "bias_correct", "debias"):
            return
        for index in indexes(evidence):
            for place, decay in _decays(index):
                value = float(str(decay.value))
                if LEAST <= value < MOST and value**steps > LEFT and not _begins_faster(index, place):
                    saw = (
                        f"decay {value:g}: after {steps} steps {value**steps:.0%} of the average is its start"
                    )
                    yield self.finding(evidence, saw, place=place_in(index, decay))
                    return


def _decays(index: FileIndex) -> Iterator[tuple[ast.Call | ast.BinOp, ast.Constant]]:
    """Where an average takes up new weights, and the number that it keeps of the old ones."""
    for node in ast.walk(index.tree):
        kept = _kept(node)
        if kept is None or not isinstance(node, ast.Call | ast.BinOp) or not _is_average(index, node):
            continue
        known = number(index, kept)
        if known is not None:
            yield node, known


def _kept(node: ast.AST) -> ast.expr | None:
    """The decay in `old.mul_(decay)` before `add_`, `decay * old + (1 - decay) * new`, `old.lerp_(new, 1 -
    decay)` and `get_ema_avg_fn(decay)`."""
    if isinstance(node, ast.Call):
        if called(node) == "mul_" and len(node.args) == 1:
            return node.args[0]
        if called(node) == "lerp_" and len(node.args) == 2:
            return _one_less(node.args[1])
        if called(node).startswith("get_ema") and node.args:
            return node.args[0]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        factors = [
            factor
            for side in (node.left, node.right)
            if isinstance(side, ast.BinOp) and isinstance(side.op, ast.Mult)
            for factor in (side.left, side.right)
        ]
        rests = {ast.unparse(rest) for factor in factors if (rest := _one_less(factor)) is not None}
        return next((factor for factor in factors if ast.unparse(factor) in rests), None)
    return None


def _one_less(node: ast.expr) -> ast.expr | None:
    """`decay` of `1 - decay`."""
    one = (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Sub)
        and ast.unparse(node.left) in ("1", "1.0")
    )
    return node.right if one and isinstance(node, ast.BinOp) else None


def _is_average(index: FileIndex, node: ast.AST) -> bool:
    """Whether the update, its loop, its function or its class speaks of an average, and of no target."""
    texts = [ast.unparse(node)]
    while node in index.parents:
        node = index.parents[node]
        if isinstance(node, ast.For):
            texts.append(ast.unparse(node))
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            texts.append(node.name)
    text = " ".join(texts)
    return bool(AVERAGES.search(text)) and not TARGETS.search(text)


def _begins_faster(index: FileIndex, node: ast.AST) -> bool:
    """Whether the decay grows with the steps, or what it lacks is divided out: both need the count."""
    while node in index.parents and not isinstance(node, ast.ClassDef | ast.Module):
        node = index.parents[node]
        if isinstance(node, ast.FunctionDef):
            inside = list(ast.walk(node))
            least = any(isinstance(one, ast.Call) and called(one) in ("min", "minimum") for one in inside)
            if least or any(isinstance(one, ast.BinOp) and isinstance(one.op, ast.Pow) for one in inside):
                return True
    return False
