"""RE058 metric-wrong

What
    The accuracy that is reported is that of the last batch alone, or a sum of hits divided by the number of
    batches, or a sum of shares divided by the number of rows; or it is that of a regression, whose answers
    are never equal to their targets.
Why
    A number that is not the share of right answers cannot be compared with any other.
Symptom
    An accuracy that jumps from epoch to epoch in steps of one row, lies above one, or is far too small.
Example
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(60):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[:240]), y[:240]).backward()
        optimizer.step()
    hits = 0
    with torch.no_grad():
        for rows, labels in DataLoader(TensorDataset(x[240:], y[240:]), batch_size=16):
            hits = (model(rows).argmax(1) == labels).float().mean().item()
    print("val_accuracy", hits)
Instead
    -         hits = (model(rows).argmax(1) == labels).float().mean().item()
    - print("val_accuracy", hits)
    +         hits += (model(rows).argmax(1) == labels).sum().item()
    + print("val_accuracy", hits / len(x[240:]))
Fix safety
    Safe: the training stays as it is, the reported number becomes the share of right answers.
Sources
    Documentation of torchmetrics.Accuracy (sums are kept over batches, the share is taken at the end).
"""

import ast
import re

from reenact.program.read.index import FileIndex
from reenact.rules import Certainty, Evidence, Findings, LossFamily, Needs, Rule
from reenact.rules.own._lines import called, function_of, indexes, place_in
from reenact.rules.own._places import framework

BATCHES = re.compile(r"load|batch|(?:^|_)dl$|dataset|iter", re.IGNORECASE)


class MetricWrong(Rule):
    code, name, family, fault = "RE058", "metric-wrong", "reenact", None
    needs = Needs.SOURCE
    is_root_cause = True
    confidence = 0.9
    certainty = Certainty.STRONG
    why = "The reported number is not the share of right answers."

    def check(self, evidence: Evidence) -> Findings:
        measured = _of_a_regression(evidence)
        if measured is not None:
            at, asked, watched = measured
            saw = "accuracy of a regression whose targets are no whole numbers"
            saw += ", which decides when to stop" if watched else ""
            certain = Certainty.STRONG if watched else Certainty.HINT
            sure = self.confidence if watched else 0.5
            yield self.finding(evidence, saw, place=place_in(at, asked), certainty=certain, confidence=sure)
        for index in indexes(evidence):
            for loop in index.loops:
                labels = _labels(loop)
                for node in ast.walk(loop) if labels else ():
                    saw = _wrong(index, loop, node, labels)
                    if saw and isinstance(node, ast.Assign | ast.AugAssign):
                        yield self.finding(evidence, saw, place=place_in(index, node))


def _of_a_regression(evidence: Evidence) -> tuple[FileIndex, ast.expr, bool] | None:
    """Where Keras is asked for the accuracy of quantities, and whether it decides which epoch is kept."""
    labels = evidence.labels
    if (
        labels is None
        or evidence.loss_family is not LossFamily.REGRESSION
        or labels.integral
        or labels.one_hot
    ):
        return None
    for index in indexes(evidence):
        asked = [
            node
            for call in index.calls
            for word in call.keywords
            if word.arg == "metrics"
            for node in ast.walk(word.value)
            if isinstance(node, ast.Constant) and node.value in ("accuracy", "acc", "binary_accuracy")
        ]
        watched = re.search(r"monitor\s*=\s*[\"'](?:val_)?(?:acc|accuracy|binary_accuracy)[\"']", index.text)
        if asked and framework(evidence) == "keras":
            return index, asked[0], watched is not None
    return None


def _labels(loop: ast.stmt) -> set[str]:
    """The names that a loop over batches gives each batch; none for another loop."""
    if not isinstance(loop, ast.For) or "range" in ast.unparse(loop.iter):
        return set()
    words = [node for node in ast.walk(loop.iter) if isinstance(node, ast.Name | ast.Attribute)]
    texts = [node.id if isinstance(node, ast.Name) else node.attr for node in words]
    names = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
    return names if len(names) > 1 and any(BATCHES.search(text) for text in texts) else set()


def _wrong(index: FileIndex, loop: ast.stmt, node: ast.AST, labels: set[str]) -> str:
    """What is wrong with the hits that a statement counts; empty for nothing, or where it counts none."""
    if not isinstance(node, ast.Assign | ast.AugAssign) or not _compares(node.value, labels):
        return ""
    target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
    if not isinstance(target, ast.Name):
        return ""
    names = [one for one in ast.walk(function_of(index, loop)) if isinstance(one, ast.Name)]
    uses = [one for one in names if one.id == target.id and isinstance(one.ctx, ast.Load)]
    last = loop.end_lineno or loop.lineno
    within = [use for use in uses if loop.lineno <= use.lineno <= last]
    after = [use for use in uses if use.lineno > last]
    if isinstance(node, ast.Assign):
        ends = any(isinstance(one, ast.Break) for one in ast.walk(loop))
        return f"{target.id} is that of the last batch" if after and not within and not ends else ""
    share = any(isinstance(one, ast.Call) and called(one) == "mean" for one in ast.walk(node.value))
    divisors = [_divisor(index, use) for use in after]
    if share and any("dataset" in text for text in divisors):
        return f"{target.id} adds up shares of batches and is divided by the number of rows"
    whole = not share and not any(isinstance(one, ast.BinOp) for one in ast.walk(node.value))
    batches = f"len({ast.unparse(loop.iter)})" if isinstance(loop, ast.For) else ""
    if whole and batches in divisors:
        return f"{target.id} adds up hits and is divided by the number of batches"
    return ""


def _compares(value: ast.expr, labels: set[str]) -> bool:
    """Whether answers are compared with the labels of the batch, and the hits counted."""
    counted = any(isinstance(node, ast.Call) and called(node) in ("mean", "sum") for node in ast.walk(value))
    return counted and any(
        isinstance(node, ast.Compare)
        and isinstance(node.ops[0], ast.Eq)
        and labels & {one.id for one in ast.walk(node.comparators[0]) if isinstance(one, ast.Name)}
        for node in ast.walk(value)
    )


def _divisor(index: FileIndex, use: ast.AST) -> str:
    above = index.parents.get(use)
    if isinstance(above, ast.BinOp) and isinstance(above.op, ast.Div) and above.left is use:
        return ast.unparse(above.right)
    return ""
