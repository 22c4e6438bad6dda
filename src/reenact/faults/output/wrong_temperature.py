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
from collections.abc import Iterable, Iterator

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
from reenact.faults.fixes.losses import divide_by_temperature
from reenact.program.flow.uses import number, objects_of, reaches, value_of
from reenact.program.syntax.excerpt import excerpt
from reenact.program.syntax.lines import nodes
from reenact.program.syntax.pieces import (
    calls_in,
    file_of,
    is_call,
    is_sum,
    owner_of,
    place_of,
)
from reenact.program.training.roles import is_loss_call

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
    for node, value in _multiplied(evidence):
        if _flattens(node, value) or _sharpens(node, value):
            saw = f"{excerpt(node)}: scores times a temperature of {value:g}"
            place = place_of(node)
            fixes = divide_by_temperature(evidence, place)
            yield detector.finding(evidence, saw, fixes=fixes, place=place)


def _multiplied(evidence: Evidence) -> Iterator[tuple[ast.BinOp, float]]:
    """Products with a number that is set elsewhere."""
    for node in nodes(evidence.files, ast.BinOp):
        if is_sum(node, ast.Mult) and (_is_similarity(node) or _is_shared(node)):
            for factor in (node.left, node.right):
                known = None if isinstance(factor, ast.Constant) else number(factor)
                if known is not None:
                    yield node, float(str(known.value))


def _is_similarity(node: ast.BinOp) -> bool:
    """Whether one side is a product of rows with rows."""
    scores = map(value_of, (node.left, node.right))
    return any(is_sum(made, ast.MatMult) or is_call(made, *SIMILAR) for made in scores)


def _is_shared(node: ast.BinOp) -> bool:
    """Whether it is made shares of at once."""
    parents = file_of(node).parents
    above = parents.get(node)
    return is_call(parents.get(above) if isinstance(above, ast.Attribute) else above, *SHARES)


def _flattens(node: ast.BinOp, value: float) -> bool:
    """Whether similarities of rows of length one, which a cross-entropy is given, come still closer
    together.
    """
    index = file_of(node)
    is_bounded = calls_in(index.tree, "normalize", "cosine_similarity")
    if not 0 < value < 1 or not is_bounded or not _is_similarity(node):
        return False
    return reaches(node, _arguments(filter(is_loss_call, index.calls)))


def _sharpens(node: ast.BinOp, value: float) -> bool:
    """Whether shares that a divergence compares, as those of a teacher, are made harder."""
    index = file_of(node)
    shares = calls_in(index.tree, *SHARES)
    inside = [call for call in shares if node in (*call.args[:1], owner_of(call))]
    compared = (
        call
        for call in index.calls
        if is_call(call, "kl_div") or objects_of(call.func, "KLDivLoss")
    )
    ends = _arguments(compared) if value > 1 and inside else []
    return any(reaches(call, ends) for call in inside)


def _arguments(calls: Iterable[ast.Call]) -> list[ast.expr]:
    return [part for call in calls for part in call.args]
