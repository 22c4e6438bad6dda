"""LY15 untied-weights

What
    The output layer begins with a copy of the embedding, or a decoder with a copy of its encoder, not with
    the weights themselves; or a siamese network gives its two inputs to two networks instead of to one.
Why
    Tied weights are one parameter. A copy, as `nn.Parameter(weight.clone())` makes one, goes its own way
    from the first step on, or stays behind where the optimizer does not know it. Two networks that were
    meant to be one map like things to unlike places.
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
import re
from collections.abc import Iterator, Sequence
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
from reenact.faults.facts.lines import PLAIN, calls, first_place, nodes, place_in
from reenact.faults.facts.parts import called, is_call, owner_of, within
from reenact.program.syntax.index import FileIndex

TIED = re.compile(r"\.(\w+)\.weight$")
SIAMESE = re.compile(
    r"siamese|twin|\bsame (branch|encoder|tower|network|weights)|shar\w+ (its |their )?weights",
    re.I,
)
"""Words by which an author says that two inputs go through one network."""
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
    encoder, not with the weights themselves; or a siamese network gives its two inputs to two
    networks instead of to one.

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
            given = (one for one in nodes(evidence, ast.Assign) if _weight(one[1].targets[0]))
            filled = (one for one in calls(evidence, "copy_") if _weight(owner_of(one[1])))
            place = first_place(given) or first_place(filled)
            yield detector.finding(evidence, saw, layer=head, place=place)
    yield from _parted(detector, evidence, layers)
    for index, one, other in _branches(evidence):
        both = f"{ast.unparse(one.func)} and {ast.unparse(other.func)}"
        saw = f"{both} are two networks, each for one input, not one that is shared"
        yield detector.finding(
            evidence,
            saw,
            place=place_in(index, other),
            confidence=0.8,
        )


def _on_demand(index: FileIndex, tied: ast.Assign) -> bool:
    """Whether a tie is an option of the program, and may never have been made."""
    tests = (above.test for above in index.ancestors(tied) if isinstance(above, ast.If))
    return any("__name__" not in ast.unparse(test) for test in tests)


def _weight(node: ast.expr | None) -> bool:
    return node is not None and ast.unparse(node).removesuffix(".data").endswith(".weight")


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


def _branches(evidence: Evidence) -> Iterator[tuple[FileIndex, ast.Call, ast.Call]]:
    """In a class that calls itself siamese: two networks of its own, made alike, that take an
    input each.
    """
    for index, owner in nodes(evidence, ast.ClassDef):
        words = (
            owner.name,
            ast.get_docstring(owner) or "",
            ast.get_docstring(index.tree) or "",
        )
        own = [one for one in within(owner, ast.Call) if ast.unparse(one.func).startswith("self.")]
        passes = [
            one for one in own if one.args and isinstance(one.func, ast.Attribute | ast.Subscript)
        ]
        for one, other in combinations(passes, 2) if SIAMESE.search(" ".join(words)) else ():
            apart = ast.unparse(one.args[0]) != ast.unparse(other.args[0])
            if apart and _made_alike(owner, one.func, other.func):
                yield index, one, other
                break


def _made_alike(owner: ast.ClassDef, one: ast.expr, other: ast.expr) -> bool:
    """Whether two attributes, or two of a list, are networks that one and the same text makes
    apart.
    """
    made = {ast.unparse(given.targets[0]): given.value for given in within(owner, ast.Assign)}
    if isinstance(one, ast.Subscript) and isinstance(other, ast.Subscript):
        listed = made.get(ast.unparse(one.value))
        twice = ast.unparse(one.value) == ast.unparse(other.value) and ast.unparse(
            one
        ) != ast.unparse(other)
        return twice and listed is not None and any(within(listed, ast.comprehension))
    first = made.get(ast.unparse(one))
    second = made.get(ast.unparse(other))
    if ast.unparse(one) == ast.unparse(other) or not is_call(first) or not is_call(second):
        return False
    copied = called(second) == "deepcopy" and ast.unparse(second.args[0]) == ast.unparse(one)
    return copied or (called(first) not in PLAIN and ast.unparse(first) == ast.unparse(second))


def _parted(detector: Detector, evidence: Evidence, layers: Sequence[LayerView]) -> Findings:
    """Weights that the text makes one, and that are two when the training begins."""
    by_name = {layer.name.rpartition(".")[2]: layer for layer in layers}
    for index, tied in nodes(evidence, ast.Assign):
        ends = [TIED.search(ast.unparse(one)) for one in (tied.targets[0], tied.value)]
        pair = [by_name.get(end[1]) if end else None for end in ends]
        one, other = (layer.kernel() if layer is not None else None for layer in pair)
        if one is None or other is None or one.shape != other.shape or one.path == other.path:
            continue
        # The line that gives a layer another parameter after that.
        given = (found for found in nodes(evidence, ast.Assign) if _weight(found[1].targets[0]))
        made = first_place(found for found in given if is_call(found[1].value, "Parameter"))
        if made is None and _on_demand(index, tied):
            continue
        saw = f"{ast.unparse(tied)} made them one, and they are two parameters in the training"
        yield detector.finding(
            evidence,
            saw,
            layer=pair[0],
            place=made,
        )
