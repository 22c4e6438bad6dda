"""RE048 wrong-dimension

What
    A softmax is taken over the wrong axis: over the rows instead of the classes, or over the queries of
    an attention instead of the keys. Or embeddings are brought to length one along the batch. Or axes are
    swapped by `view` or `reshape`, which leave the numbers in their order.
Why
    Shares that should sum to one do so along the wrong axis: rows compete with each other.
Symptom
    The loss begins near the logarithm of the batch size; the model learns little.
Example
    import torch
    import torch.nn.functional as F
    from torch import nn
    from reenact.testing.toys import blobs

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(8, 32)
            self.head = nn.Linear(32, 3)

        def forward(self, x):
            return F.log_softmax(self.head(F.relu(self.body(x))), dim=0)

    x, y = map(torch.from_numpy, blobs())
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(60):
        optimizer.zero_grad()
        F.nll_loss(model(x), y).backward()
        optimizer.step()
Instead
    -         return F.log_softmax(self.head(F.relu(self.body(x))), dim=0)
    +         return F.log_softmax(self.head(F.relu(self.body(x))), dim=1)
Fix safety
    There is nothing to change automatically: the axis of the classes is known to the author.
Sources
    Documentation of torch.nn.functional.softmax (`dim`).
"""

import ast
from collections.abc import Iterator

from reenact.program.read.index import FileIndex
from reenact.rules import Certainty, Evidence, Findings, LayerView, LossFamily, Needs, Rule, Severity
from reenact.rules.own._lines import called, function_of, indexes, place_in, value_of
from reenact.rules.own._places import says

CUTS = ("view", "reshape")
TURNS = ("transpose", "permute", "swapaxes", "movedim", "rearrange", "mT")
OF_FEATURES = ("barlow", "Barlow", "vicreg", "VICReg", "whiten", "off_diagonal", "decorrelat")
"""Losses that compare features over a batch and not rows."""


class WrongDimension(Rule):
    code, name, family, fault = "RE048", "wrong-dimension", "reenact", None
    needs = Needs.GRAPH
    severity = Severity.ERROR
    is_root_cause = True
    confidence = 0.95
    certainty = Certainty.STRONG
    why = "Numbers that belong together lie along another axis."

    def check(self, evidence: Evidence) -> Findings:
        layers = evidence.layers
        last = max((number for number, layer in enumerate(layers) if layer.weights), default=-1)
        for number, layer in enumerate(layers):
            shape = layer.output_shape or ()
            classes = evidence.loss_family is LossFamily.CATEGORICAL
            if _axis(layer) == 0 and number > last and len(shape) == 2 and classes:
                yield self.finding(evidence, f"{layer.type} over the {shape[0]} rows", layer=layer)
            elif (
                layer.type == "normalize"
                and layer.settings.get("dim") == 0
                and len(shape) == 2
                and layer.takes
            ):
                yield self.finding(evidence, f"normalize over the {shape[0]} rows", layer=layer)
        events = evidence.trace.happened("normalized") if evidence.trace is not None else ()
        along = next((one for one in events if one.facts.get("axis") == 0), None)
        if along is not None and not says(evidence, *OF_FEATURES):
            saw = "normalize over the rows of a batch: no row has length one"
            yield self.finding(evidence, saw, place=along.place)
        over_queries = softmax_over_queries(evidence)
        if over_queries is not None:
            saw = f"{over_queries.type} over the queries, the last axis but one, not over the keys"
            yield self.finding(evidence, saw, layer=over_queries, certainty=Certainty.PROOF)
        for index in indexes(evidence):
            for call in index.calls:
                if called(call) in CUTS and (_swaps(index, call) or _heads_apart(index, call)):
                    saw = f"{ast.unparse(call)[:60]} swaps no axes: the numbers stay in their order"
                    yield self.finding(evidence, saw, place=place_in(index, call))


def softmax_over_queries(evidence: Evidence) -> LayerView | None:
    """The first softmax of an attention that is taken over the last axis but one."""
    for layer in evidence.layers:
        axis, shape = _axis(layer), layer.output_shape or ()
        if axis is not None and axis == len(shape) - 2 > 0 and shape[-1] == shape[-2] and layer.takes == "":
            return layer
    return None


def _axis(layer: LayerView) -> int | None:
    """The axis of a softmax, counted from the front; none for anything else."""
    given, shape = layer.settings.get("dim"), layer.output_shape
    if "softmax" not in layer.type.lower() or not isinstance(given, int) or not shape:
        return None
    return given % len(shape)


def _sizes(call: ast.Call) -> list[str]:
    given = call.args[0].elts if len(call.args) == 1 and isinstance(call.args[0], ast.Tuple) else call.args
    return [ast.unparse(one) for one in given]


def _swaps(index: FileIndex, call: ast.Call) -> bool:
    """Whether a tensor is given its own sizes in another order, or heads of an attention before the tokens
    that they are cut from: `x.view(b, c, t)` or `x.view(b, heads, t, c // heads)` for `b, t, c = x.shape`."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    of_layer = (
        isinstance(owner, ast.Call) and len(owner.args) == 1 and called(owner) not in (*TURNS, "contiguous")
    )
    tensor = (
        ast.unparse(owner.args[0] if of_layer and isinstance(owner, ast.Call) else owner) if owner else ""
    )
    sizes = _sizes(call)
    by_number = [
        [f"{tensor}.{word.format(number)}" for number in range(len(sizes))]
        for word in ("shape[{}]", "size({})")
    ]
    for names in (*_unpacked(index, call, tensor), *by_number):
        permuted = len(names) > 1 and sorted(names) == sorted(sizes) and names != sizes and not of_layer
        if permuted:
            return True
        if len(names) == 3 and len(sizes) == 4 and names[0] == sizes[0] and names[1] == sizes[2]:
            return sizes[1] not in (*names, "1", "-1") and sizes[3] not in (*names, "1")
    return False


def _unpacked(index: FileIndex, call: ast.Call, tensor: str) -> Iterator[list[str]]:
    """Names that the sizes of a tensor were last given before a call, unless it is another tensor by then."""
    within = [
        node
        for node in ast.walk(function_of(index, call))
        if isinstance(node, ast.Assign) and node.lineno < call.lineno and len(node.targets) == 1
    ]
    shapes = [
        node
        for node in within
        if isinstance(node.targets[0], ast.Tuple)
        and ast.unparse(node.value) in (f"{tensor}.shape", f"{tensor}.size()")
    ]
    made = [node.lineno for node in within if ast.unparse(node.targets[0]) == tensor]
    for node in shapes[-1:]:
        if isinstance(node.targets[0], ast.Tuple) and max(made, default=0) < node.lineno:
            yield [ast.unparse(one) for one in node.targets[0].elts]


def _heads_apart(index: FileIndex, call: ast.Call) -> bool:
    """Whether the heads of an attention are joined while tokens still lie behind them: what was turned by
    `transpose(1, 2)` before is not turned back."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    made = value_of(index, owner) if owner is not None else None
    product = isinstance(made, ast.BinOp) and isinstance(made.op, ast.MatMult)
    attends = isinstance(made, ast.Call) and called(made) == "scaled_dot_product_attention"
    if not (product or attends) or len(_sizes(call)) != 3 or owner is None:
        return False
    before = [
        node
        for node in ast.walk(function_of(index, call))
        if isinstance(node, ast.Call) and node.lineno < call.lineno and called(node) == "transpose"
    ]
    return any(
        ast.unparse(node).endswith("transpose(1, 2)")
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Call)
        and called(node.func.value) in CUTS
        and len(_sizes(node.func.value)) == 4
        for node in before
    )
