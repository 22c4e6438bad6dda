"""RE048 wrong-dimension

What
    A softmax is taken over the wrong axis: over the rows instead of the classes, or over the queries of
    an attention instead of the keys. Or embeddings are brought to length one along the batch.
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

from reenact.rules import Certainty, Evidence, Findings, LayerView, LossFamily, Needs, Rule, Severity
from reenact.rules.own._places import says

OF_FEATURES = ("barlow", "Barlow", "vicreg", "VICReg", "whiten", "off_diagonal", "decorrelat")
"""Losses that compare features over a batch and not rows."""


class WrongDimension(Rule):
    code, name, family, fault = "RE048", "wrong-dimension", "reenact", None
    needs = Needs.GRAPH
    severity = Severity.ERROR
    is_root_cause = True
    confidence = 0.95
    certainty = Certainty.STRONG
    why = "The shares sum to one along the wrong axis."

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
