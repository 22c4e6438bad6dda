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
import re
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
from reenact.faults.facts.flow import number
from reenact.faults.facts.lines import indexes, place_in, value_of
from reenact.faults.facts.parts import is_call, is_sum, within
from reenact.program.syntax.index import FileIndex

NAMED = re.compile(r"^(?:self\.)?(?:\w+\.)*(?:\w+_)?(?:tau|temp|temperature|T)$")
INVERSE = re.compile(r"inv|scale|beta", re.IGNORECASE)
SIMILAR = ("matmul", "mm", "bmm", "einsum", "cosine_similarity")
SHARES = ("softmax", "log_softmax", "cross_entropy")
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
        for node, value, similar in _multiplied(index):
            if (similar and 0 < value < 1) or (not similar and value > 1):
                saw = f"{ast.unparse(node)[:60]}: scores times a temperature of {value:g}"
                yield detector.finding(
                    evidence,
                    saw,
                    place=place_in(index, node),
                )


def _multiplied(index: FileIndex) -> Iterator[tuple[ast.BinOp, float, bool]]:
    """Products of scores and a temperature with a known value, and whether the scores are
    similarities.
    """
    for node in (one for one in within(index.tree, ast.BinOp) if isinstance(one.op, ast.Mult)):
        for scores, factor in (
            (node.left, node.right),
            (node.right, node.left),
        ):
            text = ast.unparse(factor)
            if not NAMED.match(text) or INVERSE.search(text):
                continue
            known = number(index, factor)
            made = value_of(index, scores)
            similar = is_sum(made, ast.MatMult) or is_call(made, *SIMILAR)
            above = index.parents.get(node)
            shared = is_call(
                index.parents.get(above) if isinstance(above, ast.Attribute) else above,
                *SHARES,
            )
            if known is not None and (similar or shared):
                yield node, float(str(known.value)), similar
