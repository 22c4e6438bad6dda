"""OU09 wrong-temperature

What
    Scores are multiplied by a temperature that they should be divided by.
Why
    A temperature below one is there to spread similarities that lie between -1 and 1: multiplied by it, all
    scores are nearly equal, and no weights bring the loss far below the logarithm of the number of rows. One
    above one is there to make teachers softer, and makes them harder.
Symptom
    A contrastive loss that stays near the logarithm of the batch size.
Example
    import torch
    import torch.nn.functional as F

    def contrast(a, b, temperature=0.1):
        scores = F.normalize(a, dim=1) @ F.normalize(b, dim=1).T * temperature
        return F.cross_entropy(scores, torch.arange(len(a)))
Instead
    -     scores = F.normalize(a, dim=1) @ F.normalize(b, dim=1).T * temperature
    +     scores = F.normalize(a, dim=1) @ F.normalize(b, dim=1).T / temperature
Fix safety
    Unsafe: it is another loss.
Sources
    Chen et al., "A Simple Framework for Contrastive Learning of Visual Representations", ICML 2020,
    equation 1; Hinton et al., "Distilling the Knowledge in a Neural Network", 2015, equation 1.
"""

import ast
from collections.abc import Iterator

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
from reenact.faults.facts.flow import number, stores
from reenact.faults.facts.lines import indexes, place_in, value_of
from reenact.faults.facts.parts import is_call, is_sum, owner_of, within
from reenact.faults.facts.roles import is_loss_call
from reenact.faults.facts.signs import reaches
from reenact.program.syntax.excerpt import excerpt, same
from reenact.program.syntax.index import FileIndex

SIMILAR = ("matmul", "mm", "bmm", "einsum", "cosine_similarity")
SHARES = ("softmax", "log_softmax")
FAULT = Fault(
    code="OU09",
    name="wrong-temperature",
    category=Category.OUTPUT,
    page=__doc__,
)


@FAULT.detector(
    "RE060",
    "temperature-wrong",
    "reenact",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="Scores are divided by a temperature: the smaller it is, the farther they lie apart.",
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def temperature_wrong(detector: Detector, evidence: Evidence) -> Findings:
    """Scores are multiplied by a temperature that they should be divided by.

    Chen et al., "A Simple Framework for Contrastive Learning of Visual Representations", ICML 2020,
    equation 1; Hinton et al., "Distilling the Knowledge in a Neural Network", 2015, equation 1.
    """
    for index in indexes(evidence):
        for node, value in _multiplied(index):
            if _flattens(index, node, value) or _sharpens(index, node, value):
                saw = f"{excerpt(node)}: scores times a temperature of {value:g}"
                yield detector.finding(
                    evidence,
                    saw,
                    place=place_in(index, node),
                )


def _multiplied(index: FileIndex) -> Iterator[tuple[ast.BinOp, float]]:
    """Products with a number that is set elsewhere."""
    for node in within(index.tree, ast.BinOp):
        if isinstance(node.op, ast.Mult) and (
            _is_similarity(index, node) or _is_shared(index, node)
        ):
            for factor in (node.left, node.right):
                known = None if isinstance(factor, ast.Constant) else number(index, factor)
                if known is not None:
                    yield node, float(str(known.value))


def _is_similarity(index: FileIndex, node: ast.BinOp) -> bool:
    """Whether one side is a product of rows with rows."""
    scores = [value_of(index, side) for side in (node.left, node.right)]
    return any(is_sum(made, ast.MatMult) or is_call(made, *SIMILAR) for made in scores)


def _is_shared(index: FileIndex, node: ast.BinOp) -> bool:
    """Whether it is made shares of at once."""
    above = index.parents.get(node)
    return is_call(index.parents.get(above) if isinstance(above, ast.Attribute) else above, *SHARES)


def _flattens(index: FileIndex, node: ast.BinOp, value: float) -> bool:
    """Whether similarities of rows of length one, which a cross-entropy is given, come still closer
    together.
    """
    if not 0 < value < 1 or not _is_similarity(index, node):
        return False
    is_bounded = any(is_call(call, "normalize", "cosine_similarity") for call in index.calls)
    losses = [call for call in index.calls if is_loss_call(index, call)]
    return is_bounded and reaches(index, node, losses)


def _sharpens(index: FileIndex, node: ast.BinOp, value: float) -> bool:
    """Whether shares that a divergence compares, as those of a teacher, are made harder."""
    shares = [call for call in index.calls if is_call(call, *SHARES)]
    inside = [call for call in shares for part in (*call.args[:1], owner_of(call)) if part is node]
    compared = [
        call
        for call in index.calls
        if is_call(call, "kl_div") or _is_made_of(index, call, "KLDivLoss")
    ]
    return value > 1 and any(reaches(index, call, compared) for call in inside)


def _is_made_of(index: FileIndex, call: ast.Call, name: str) -> bool:
    """Whether what is called is an object of this class."""
    return is_call(call.func, name) or any(
        is_call(value, name) and same(target, call.func) for target, value in stores(index.tree)
    )
