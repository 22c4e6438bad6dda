"""LY11 batch-norm-with-tiny-batch

What
    Batch normalisation is trained with batches of one or two rows; or with so few that, after the training,
    the loss of a batch is much worse in evaluation mode than in training mode.
Why
    The statistics of so few rows are noise: in training each row is normalised by itself, in evaluation
    by averages that fit no row.
Symptom
    Good in training mode, bad in evaluation mode.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(2):
        for first in range(0, len(x), 2):
            rows, labels = x[first : first + 2], y[first : first + 2]
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(rows), labels).backward()
            optimizer.step()
Instead
    - for epoch in range(2):
    -     for first in range(0, len(x), 2):
    -         rows, labels = x[first : first + 2], y[first : first + 2]
    + for epoch in range(20):
    +     for first in range(0, len(x), 32):
    +         rows, labels = x[first : first + 32], y[first : first + 32]
Fix safety
    Unsafe: another batch size is another training; group normalisation needs no batch.
Sources
    Wu and He, "Group Normalization", ECCV 2018, figure 1; Ioffe, "Batch Renormalization", 2017.
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
)
from reenact.faults.facts.api import BATCH_NORMS
from reenact.faults.facts.places import has_modes
from reenact.faults.facts.series import finite, losses
from reenact.probe.trace import EVALUATION, Trace

FEW, SMALL = 2, 8
MOST = 0.9
WORSE, OF_START = 3.0, 0.25
"""Where statistics do not fit: how many times the loss of training mode that of evaluation mode is,
and by what share of the first loss it is larger.
"""
TIMES = 2.5
FEWEST = 2
NEAR = 20
"""Steps between a training pass and the evaluation it is compared with."""
FAULT = Fault(
    code="LY11",
    name="batch-norm-with-tiny-batch",
    category=Category.LAYERS,
    page=__doc__,
)


@FAULT.detector(
    "RE052",
    "batch-norm-with-tiny-batch",
    "reenact",
    needs=Needs.GRAPH | Needs.TRACE,
    observes=Observes.GRAPH,
    why="The statistics of so few rows are noise, and evaluation uses their average.",
    study=FaultType.HBS,
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
)
def batch_norm_with_tiny_batch(detector: Detector, evidence: Evidence) -> Findings:
    """Batch normalisation is trained with batches of one or two rows; or with so few that, after
    the training, the loss of a batch is much worse in evaluation mode than in training mode.

    Wu and He, "Group Normalization", ECCV 2018, figure 1; Ioffe, "Batch Renormalization", 2017.
    """
    norm = next(
        (one for one in evidence.layers if one.type in BATCH_NORMS),
        None,
    )
    steps = evidence.watched.steps
    pairs = zip(steps["batch_size"], steps["training"], strict=True)
    sizes = [int(size) for size, mode in pairs if size > 0 and mode != 0]
    least = SMALL if _do_not_fit(evidence) else FEW
    if norm is None or len(sizes) < 10:
        return
    tiny = sum(size <= least for size in sizes)
    if tiny < MOST * len(sizes):
        return
    size = max(set(sizes), key=sizes.count)
    saw = f"{norm.type} {norm.name} is trained with batches of {size}"
    modes = evidence.experiments.modes
    if modes is not None and _do_not_fit(evidence):
        saw += (
            f"; loss {modes.training:.3g} in training mode, {modes.evaluation:.3g} in evaluation "
            f"mode"
        )
    place = evidence.place_of(Kind.BATCH_SIZE) or norm.place
    sure = None if size <= FEW else 0.7
    yield detector.finding(
        evidence,
        saw,
        kind=Kind.BATCH_SIZE,
        values=(32, 16),
        place=place,
        confidence=sure,
    )


@FAULT.detector(
    "TC014",
    "train-eval-gap",
    "deepchecker",
    needs=Needs.TRACE,
    observes=Observes.LOSSES,
    why="What was learned in one mode must hold in the other.",
    study=FaultType.LNM,
    confidence=0.35,
)
def train_eval_gap(detector: Detector, evidence: Evidence) -> Findings:
    """In evaluation mode the outputs of the model have quite another scale than in training mode.

    {paper}, switch between training and evaluation. The paper compares losses and representations
    on the same rows; here the scale of the outputs of both kinds of passes is compared.
    """
    if not has_modes(evidence) or evidence.optimizers > 1 or evidence.output is None:
        return
    times = _times(evidence.watched, evidence.output.name)
    if len(times) < FEWEST:
        return
    middle = statistics.median(times)
    if not 1 / TIMES <= middle <= TIMES:
        saw = (
            f"in evaluation mode the outputs spread {middle:.2g} times as wide as in training mode"
        )
        yield detector.finding(evidence, saw, kind=Kind.NORMALIZATION)


def _do_not_fit(evidence: Evidence) -> bool:
    """Whether the running statistics make a trained model much worse on a batch that it was
    trained on.
    """
    modes = evidence.experiments.modes
    known = finite(losses(evidence))
    if modes is None or not known or modes.training <= 0:
        return False
    gap = modes.evaluation - modes.training
    return modes.evaluation > WORSE * modes.training and gap > OF_START * known[0]


def _times(trace: Trace, output: str) -> list[float]:
    """Spread of the output in each evaluation against the training step just before it."""
    spread = trace.layer(output, "std")
    mode = trace.layer(output, "training")
    judged = trace.layer(output, "std", EVALUATION)
    judging = trace.layer(output, "training", EVALUATION)
    found = []
    for step, there, mode_there in zip(judged.steps, judged.values, judging.values, strict=True):
        near = (spread.steps <= step) & (spread.steps >= step - NEAR) & (mode.values == 1)
        here = finite(list(spread.values[near]))
        if mode_there == 0 and there > 0 and here and here[-1] > 0:
            found.append(float(there) / here[-1])
    return finite(found)
