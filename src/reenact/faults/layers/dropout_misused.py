"""LY10 dropout-misused

What
    `F.dropout` without `training=self.training`: it drops in evaluation mode as well.
Why
    The function does not know the mode of the model; its default is to drop.
Symptom
    Every evaluation gives another result, below what the model can do.
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
            return self.head(F.dropout(F.relu(self.body(x)), 0.2))

    x, y = map(torch.from_numpy, blobs())
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(40):
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
    -         return self.head(F.dropout(F.relu(self.body(x)), 0.2))
    +         return self.head(F.dropout(F.relu(self.body(x)), 0.2, training=self.training))
Fix safety
    Unsafe: it changes the results of evaluations.
Sources
    Documentation of torch.nn.functional.dropout (`training` is True).
"""

import ast

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    FaultType,
    Findings,
    Kind,
    Needs,
    Observes,
    Severity,
)
from reenact.faults.facts.api import BATCH_NORMS, DROPOUTS
from reenact.faults.facts.architecture import dropout_before, is_dropout, is_max_pooling
from reenact.faults.fixes.layers import drop_in_training_alone
from reenact.program.syntax.lines import calls, first_place
from reenact.program.syntax.pieces import keyword, last_word, owner_of

MOVED = 1e-3
MOST = 0.5
FAULT = Fault(
    code="LY10",
    name="dropout-misused",
    category=Category.LAYERS,
    page=__doc__,
)


@FAULT.detector(
    "RE046",
    "dropout-misuse",
    "reenact",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="The function drops in evaluation mode too, unless it is given the mode of the model.",
    study=FaultType.MOD,
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
)
def dropout_misuse(detector: Detector, evidence: Evidence) -> Findings:
    """`F.dropout` without `training=self.training`: it drops in evaluation mode as well.

    Documentation of torch.nn.functional.dropout (`training` is True).
    """
    noise = [tested.noise for tested in evidence.experiments.behaviour if tested.noise is not None]
    if noise and max(noise) < MOVED:
        return
    place = first_place(one for one in calls(evidence.files, *DROPOUTS) if _always_on(one))
    if place is not None:
        seen = "; two evaluations of the same rows differ" if noise else ""
        yield detector.finding(
            evidence,
            f"F.dropout is not given training=self.training{seen}",
            fixes=drop_in_training_alone(evidence),
            place=place,
        )


@FAULT.detector(
    "RE042",
    "dropout-at-output",
    "reenact",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="What is dropped behind the last layer are answers, the right one as often as any other.",
    study=FaultType.RCD,
    severity=Severity.ERROR,
    confidence=0.85,
    certainty=Certainty.STRONG,
)
def dropout_at_output(detector: Detector, evidence: Evidence) -> Findings:
    """Dropout stands behind the last layer with weights: it drops answers, not features.

    Srivastava et al., "Dropout: A Simple Way to Prevent Neural Networks from Overfitting", JMLR
    2014, section 4: units of the input and of hidden layers are dropped.
    """
    output = evidence.output
    if output is None or output.family != "dense" or not evidence.loss_name:
        return
    classes = evidence.labels.classes if evidence.labels is not None else None
    if classes and output.width not in (1, classes):
        # Another layer answers; this one is only the last that was seen.
        return
    for layer in evidence.layers[evidence.layers.index(output) + 1 :]:
        if layer.family == "dropout" and layer.dropped != 0:
            # The text alone seldom tells which layer answers in the end.
            doubted = evidence.graph is None
            yield detector.finding(
                evidence,
                f"{layer.name} drops outputs of {output.name}, the last layer with weights",
                layer=layer,
                kind=Kind.DROPOUT,
                values=(0.0,),
                confidence=0.4 if doubted else None,
                certainty=Certainty.HINT if doubted else None,
            )


@FAULT.detector(
    "NL006",
    "dropout-before-batchnorm",
    "neuralint",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="The statistics that normalisation gathers in training do not hold when dropout is off.",
    study=FaultType.LAD,
    confidence=0.4,
)
def dropout_before_batchnorm(detector: Detector, evidence: Evidence) -> Findings:
    """Dropout stands directly, or with an activation between, in front of batch normalisation.

    {paper}, f006 of the release; Li, Chen, Hu and Yang, "Understanding the Disharmony between
    Dropout and Batch Normalization by Variance Shift", CVPR 2019.
    """
    return dropout_before(detector, evidence, lambda layer: layer.type in BATCH_NORMS)


@FAULT.detector(
    "NL018",
    "dropout-before-max-pooling",
    "neuralint",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="Pooling picks what dropout has left, which undoes part of it.",
    study=FaultType.LAD,
    severity=Severity.NOTE,
    confidence=0.3,
)
def dropout_before_max_pooling(detector: Detector, evidence: Evidence) -> Findings:
    """Dropout stands directly, or with an activation between, in front of max-pooling.

    {paper}, f018 of the release.
    """
    return dropout_before(detector, evidence, is_max_pooling)


@FAULT.detector(
    "UM010",
    "dropout-too-high",
    "umlaut",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="Most of the signal is thrown away at every step; 0.2 to 0.5 is usual.",
    study=FaultType.RCD,
    confidence=0.55,
)
def dropout_too_high(detector: Detector, evidence: Evidence) -> Findings:
    """A dropout layer drops more than half of what it is given.

    {paper}; the bound is that of the release.
    """
    for layer in evidence.layers:
        rate = layer.dropped or 0.0
        if is_dropout(layer) and rate > MOST:
            yield detector.finding(
                evidence,
                f"{layer.name} drops {rate:.0%}",
                layer=layer,
                kind=Kind.DROPOUT,
                values=(0.2, 0.3, 0.5),
                confidence=0.8 if rate >= 0.75 else None,
            )


def _always_on(call: ast.Call) -> bool:
    """A functional dropout that is not given the mode."""
    functional = last_word(owner_of(call)) in ("F", "functional")
    return functional and 1 <= len(call.args) <= 2 and keyword(call, "training") is None
