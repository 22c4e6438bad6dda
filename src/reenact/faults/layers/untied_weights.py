"""LY15 untied-weights

What
    The output layer begins with a copy of the embedding, or a decoder with a copy of its encoder, not with
    the weights themselves.
Why
    Tied weights are one parameter. A copy, as `nn.Parameter(weight.clone())` makes one, goes its own way
    from the first step on, or stays behind where the optimizer does not know it.
Symptom
    More parameters than the paper has, and worse results.
Example
    import torch
    from torch import nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(12, 16)
            self.body = nn.GRU(16, 16, batch_first=True)
            self.head = nn.Linear(16, 12, bias=False)
            self.head.weight = nn.Parameter(self.embed.weight.clone())

        def forward(self, tokens):
            return self.head(self.body(self.embed(tokens))[0])

    torch.manual_seed(0)
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(80):
        text = (torch.randint(12, (16, 1)) + torch.arange(9)) % 12
        optimizer.zero_grad()
        scores = model(text[:, :-1])
        nn.functional.cross_entropy(scores.flatten(0, 1), text[:, 1:].flatten()).backward()
        optimizer.step()
Instead
    -         self.head.weight = nn.Parameter(self.embed.weight.clone())
    +         self.head.weight = self.embed.weight
Fix safety
    Unsafe: the model has fewer parameters.
Sources
    Press and Wolf, "Using the Output Embedding to Improve Language Models", EACL 2017.
"""

import ast
import math
from collections.abc import Sequence
from itertools import combinations

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    Findings,
    LayerView,
    Needs,
    Observes,
    Severity,
)
from reenact.faults.facts.imbalances import imbalances
from reenact.faults.fixes.ties import tie_weights
from reenact.program.syntax.excerpt import excerpt
from reenact.program.syntax.lines import calls, first_place, nodes
from reenact.program.syntax.pieces import file_of, is_call, last_word, names, owner_of

FAULT = Fault(
    code="LY15",
    name="untied-weights",
    category=Category.LAYERS,
    page=__doc__,
)


@FAULT.detector(
    "RE050",
    "untied-weights",
    "reenact",
    needs=Needs.GRAPH,
    observes=Observes.GRAPH,
    why="A copy is trained by itself, or not at all; tied weights are one parameter.",
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def untied_weights(detector: Detector, evidence: Evidence) -> Findings:
    """The output layer begins with a copy of the embedding, or a decoder with a copy of its
    encoder, not with the weights themselves.

    Press and Wolf, "Using the Output Embedding to Improve Language Models", EACL 2017.
    """
    layers = [layer for layer in evidence.layers if layer.family in ("embedding", "dense")]
    # Copies have the same smallest and largest weight; a model may have thousands of layers.
    alike: dict[tuple[float, float], list[LayerView]] = {}
    for layer in layers:
        kernel = layer.kernel()
        if kernel is not None and kernel.std:
            alike.setdefault((kernel.minimum, kernel.maximum), []).append(layer)
    for table, head in (pair for group in alike.values() for pair in combinations(group, 2)):
        if _copied(table, head):
            saw = f"{head.name} begins with the values of {table.name}, in a parameter of its own"
            # The line that gives a layer another weight, or other values.
            given = (one for one in nodes(evidence.files, ast.Assign) if _weight(one.targets[0]))
            filled = (one for one in calls(evidence.files, "copy_") if _weight(owner_of(one)))
            place = first_place(given) or first_place(filled)
            yield detector.finding(
                evidence,
                saw,
                fixes=tie_weights(evidence, place),
                layer=head,
                place=place,
            )
    yield from _parted(detector, evidence, layers)


@FAULT.detector(
    "RE121",
    "parted-weights",
    "reenact",
    needs=Needs.ACCOUNTS,
    observes=Observes.GRAPH,
    why="Layers that shared one parameter have two: they go different ways.",
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def parted_weights(detector: Detector, evidence: Evidence) -> Findings:
    """Two layers were given one parameter, and one of them another one before the training began.

    Press and Wolf, "Using the Output Embedding to Improve Language Models", EACL 2017.
    """
    yield from imbalances(
        detector,
        evidence,
        fixes=lambda place: tie_weights(evidence, place),
    )


def _on_demand(tied: ast.Assign) -> bool:
    """Whether a tie is an option of the program, and may never have been made."""
    above = file_of(tied).ancestors(tied)
    tests = (one.test for one in above if isinstance(one, ast.If))
    return any("__name__" not in names(test) for test in tests)


def _weight(node: ast.expr | None) -> str:
    """The attribute that a weight belongs to: `head` of `self.head.weight.data`; empty for anything
    else.
    """
    if isinstance(node, ast.Attribute) and node.attr == "data":
        node = node.value
    if isinstance(node, ast.Attribute) and node.attr == "weight":
        return last_word(node.value)
    return ""


def _copied(table: LayerView, head: LayerView) -> bool:
    """Two parameters of the same ends that hold the same values, or the same turned round. Two
    layers of one kind and shape may begin alike: copies of a block do.
    """
    one = table.kernel()
    other = head.kernel()
    if one is None or other is None or (one.path or one.name) == (other.path or other.name):
        return False
    alike = {table.family, head.family} == {
        "embedding",
        "dense",
    } and one.shape == other.shape
    turned = one.shape == other.shape[::-1] != other.shape
    # The order of a sum changes the last digits of a deviation.
    return (alike or turned) and math.isclose(
        one.std,
        other.std,
        rel_tol=1e-4,
    )


def _parted(detector: Detector, evidence: Evidence, layers: Sequence[LayerView]) -> Findings:
    """Weights that the text makes one, and that are two when the training begins."""
    by_name = {layer.name.rpartition(".")[2]: layer for layer in layers}
    for tied in nodes(evidence.files, ast.Assign):
        pair = [by_name.get(_weight(end)) for end in (tied.targets[0], tied.value)]
        one, other = (layer.kernel() if layer is not None else None for layer in pair)
        if one is None or other is None or one.shape != other.shape or one.path == other.path:
            continue
        # The line that gives a layer another parameter after that.
        given = (one for one in nodes(evidence.files, ast.Assign) if _weight(one.targets[0]))
        made = first_place(one for one in given if is_call(one.value, "Parameter"))
        if made is None and _on_demand(tied):
            continue
        saw = f"{excerpt(tied)} made them one, and they are two parameters in the training"
        yield detector.finding(
            evidence,
            saw,
            fixes=tie_weights(evidence, made),
            layer=pair[0],
            place=made,
        )
