"""DA08 not-shuffled

What
    Training rows come in the same order in every epoch.
Why
    Neighbouring rows are alike, most of all when a file is sorted by class: each batch then pulls the
    weights towards its own class and away from the one before.
Symptom
    The loss rises and falls in the same pattern in every epoch, and the model knows best what it saw
    last.
Example
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    loader = DataLoader(TensorDataset(x, y), batch_size=32)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(8):
        for rows, classes in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(rows), classes).backward()
            optimizer.step()
Instead
    - loader = DataLoader(TensorDataset(x, y), batch_size=32)
    + loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
Fix safety
    Unsafe: rows come in another order. Leave time series that carry state in order.
Sources
    Bengio, "Practical Recommendations for Gradient-Based Training", 2012, section 3.1.1.
"""

import statistics

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
    TaskType,
)
from reenact.faults.facts.imbalances import imbalances
from reenact.faults.facts.series import epoch_losses, finite, losses
from reenact.faults.fixes.layers import shuffle_rows

SORTED = 0.7
"""Spread of the batches' mean labels, by the spread of the labels, from which a batch is of one
class.
"""
SWING = 0.6
"""Spread of the losses within an epoch, against their mean, above which batches are of
different kinds.
"""
FAULT = Fault(
    code="DA08",
    name="not-shuffled",
    category=Category.DATA,
    page=__doc__,
)


@FAULT.detector(
    "RE009",
    "not-shuffled",
    "reenact",
    needs=Needs.TRACE,
    observes=Observes.DATA,
    why="Batches of neighbours pull the weights to and fro in the same way in every epoch.",
    study=FaultType.SHF,
)
def not_shuffled(detector: Detector, evidence: Evidence) -> Findings:
    """Training rows come in the same order in every epoch.

    Bengio, "Practical Recommendations for Gradient-Based Training", 2012, section 3.1.1.
    """
    source = _in_order(evidence)
    if any(layer.family == "recurrent" for layer in evidence.layers):
        return
    spread = evidence.labels.batch_spread if evidence.labels is not None else None
    if spread is not None and spread > SORTED and evidence.optimizers < 2 and not evidence.acts:
        saw = (
            f"rows come sorted by class (batch means spread {spread:.2f} times as far as the "
            f"labels)"
        )
        saw = f"{saw}; {source}" if source else saw
        kind = Kind.SHUFFLE
        certain = Certainty.STRONG
        yield detector.finding(
            evidence,
            saw,
            kind=kind,
            values=(True,),
            confidence=0.9,
            certainty=certain,
        )
        return
    swing = _swing(evidence)
    if not source or swing is None:
        return
    ordered = evidence.task in (TaskType.BINARY, TaskType.MULTI_CLASS) and swing > SWING
    saw = f"{source}; within an epoch the loss swings by {swing:.0%} of its mean"
    sure = 0.85 if ordered else 0.35
    yield detector.finding(
        evidence,
        saw,
        kind=Kind.SHUFFLE,
        values=(True,),
        confidence=sure,
    )


@FAULT.detector(
    "RE113",
    "epochs-class-by-class",
    "reenact",
    needs=Needs.ACCOUNTS,
    observes=Observes.DATA,
    why="Each batch pulls the model towards one class.",
    severity=Severity.ERROR,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def epochs_class_by_class(detector: Detector, evidence: Evidence) -> Findings:
    """An epoch of a loader brings one class after the other, and most batches hold a single one.

    Bengio, "Practical Recommendations for Gradient-Based Training of Deep Architectures", 2012.
    """
    fixes = shuffle_rows(evidence)
    yield from imbalances(detector, evidence, fixes=lambda _: fixes)


def _in_order(evidence: Evidence) -> str:
    """Who hands out the rows in order, as a clause; empty when nobody does."""
    for event in evidence.watched.happened("fit"):
        if event.facts.get("shuffle") is False and event.facts.get("data") == "ndarray":
            return "fit was called with shuffle=False"
    loaders = [event.facts for event in evidence.watched.happened("loader")]
    in_order = [facts for facts in loaders if facts.get("sampler") == "SequentialSampler"]
    # On its PyTorch backend Keras makes loaders of its own, over rows that it has shuffled itself.
    if in_order and len(in_order) == len(loaders) and evidence.framework != "keras":
        return "no DataLoader shuffles"
    return ""


def _swing(evidence: Evidence) -> float | None:
    """Spread of the losses around the mean of their epoch; none for fewer than two epochs of
    four steps.
    """
    known = losses(evidence)
    epochs = len(epoch_losses(evidence))
    count = evidence.watched.epoch_count or 0
    if count < 2 or epochs < 2 or len(known) < 4 * count:
        return None
    size = len(known) // count
    parts = [finite(known[start : start + size]) for start in range(0, size * count, size)]
    spreads = [
        statistics.pstdev(part) / max(1e-9, abs(statistics.fmean(part))) for part in parts if part
    ]
    return statistics.median(spreads) if spreads else None
