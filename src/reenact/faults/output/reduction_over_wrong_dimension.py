"""OU05 reduction-over-wrong-dimension

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
    Unsafe: it changes what is trained, to what was meant: the last axis, or a permutation in the place of a
    reshape.
Sources
    Documentation of torch.nn.functional.softmax (`dim`).
"""

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    Findings,
    LayerView,
    LossFamily,
    Needs,
    Observes,
    Severity,
)
from reenact.faults.fixes.outputs import other_dimension, swap_axes
from reenact.program.syntax.excerpt import excerpt
from reenact.program.syntax.pieces import (
    place_of,
)
from reenact.program.training.axes import compares_features, order_asked, swapped_by_shape

SOFTMAXES = (
    "softmax",
    "Softmax",
    "log_softmax",
    "LogSoftmax",
    "softmin",
    "Softmin",
    "gumbel_softmax",
)
FAULT = Fault(
    code="OU05",
    name="reduction-over-wrong-dimension",
    category=Category.OUTPUT,
    page=__doc__,
)


@FAULT.detector(
    "RE048",
    "wrong-dimension",
    "reenact",
    needs=Needs.GRAPH,
    observes=Observes.GRAPH,
    why="Numbers that belong together lie along another axis.",
    severity=Severity.ERROR,
    confidence=0.95,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def wrong_dimension(detector: Detector, evidence: Evidence) -> Findings:
    """A softmax is taken over the wrong axis: over the rows instead of the classes, or over the
    queries of an attention instead of the keys. Or embeddings are brought to length one along the
    batch. Or axes are swapped by `view` or `reshape`, which leave the numbers in their order.

    Documentation of torch.nn.functional.softmax (`dim`).
    """
    last = max(
        (number for number, layer in enumerate(evidence.layers) if layer.weights),
        default=-1,
    )
    classes = evidence.loss_family is LossFamily.CATEGORICAL
    for number, layer in enumerate(evidence.layers):
        over_rows = _axis(layer) == 0 and number > last and classes
        by_rows = layer.type == "normalize" and layer.settings.get("dim") == 0 and layer.takes
        shape = layer.output_shape or ()
        if (over_rows or by_rows) and len(shape) == 2:
            yield detector.finding(
                evidence,
                f"{layer.type} over the {shape[0]} rows",
                fixes=other_dimension(evidence, layer.place, 2),
                layer=layer,
            )
    along = next(
        (one for one in evidence.happened("normalized") if one.facts.get("axis") == 0),
        None,
    )
    if along is not None and not compares_features(evidence.files):
        saw = "normalize over the rows of a batch: no row has length one"
        yield detector.finding(
            evidence,
            saw,
            fixes=other_dimension(evidence, along.place, 2),
            place=along.place,
        )
    over_queries = softmax_over_queries(evidence)
    if over_queries is not None:
        saw = f"{over_queries.type} over the queries, the last axis but one, not over the keys"
        yield detector.finding(
            evidence,
            saw,
            fixes=other_dimension(evidence, over_queries.place, 4),
            layer=over_queries,
            certainty=Certainty.PROOF,
        )
    for call in swapped_by_shape(evidence.files):
        saw = f"{excerpt(call)} swaps no axes: the numbers stay in their order"
        yield detector.finding(
            evidence,
            saw,
            fixes=swap_axes(call, order_asked(call), evidence),
            place=place_of(call),
        )


def softmax_over_queries(evidence: Evidence) -> LayerView | None:
    """The first softmax of an attention that is taken over the last axis but one."""
    for layer in evidence.layers:
        axis = _axis(layer)
        shape = layer.output_shape or ()
        if (
            axis is not None
            and axis == len(shape) - 2 > 0
            and shape[-1] == shape[-2]
            and layer.takes == ""
        ):
            return layer
    return None


def _axis(layer: LayerView) -> int | None:
    """The axis of a softmax, counted from the front; none for anything else."""
    given = layer.settings.get("dim")
    shape = layer.output_shape
    if layer.type not in SOFTMAXES or not isinstance(given, int) or not shape:
        return None
    return given % len(shape)
