"""RE052 batch-norm-with-tiny-batch

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

from reenact.rules import Certainty, Evidence, Fault, Findings, Kind, Needs, Rule, Severity
from reenact.rules.own._series import finite, losses

FEW, SMALL = 2, 8
MOST = 0.9
WORSE, OF_START = 3.0, 0.25
"""Where statistics do not fit: how many times the loss of training mode that of evaluation mode is, and by
what share of the first loss it is larger."""


class BatchNormWithTinyBatch(Rule):
    code, name, family, fault = "RE052", "batch-norm-with-tiny-batch", "reenact", Fault.HBS
    needs, severity, confidence, certainty = Needs.GRAPH | Needs.TRACE, Severity.ERROR, 0.9, Certainty.STRONG
    why = "The statistics of so few rows are noise, and evaluation uses their average."

    def check(self, evidence: Evidence) -> Findings:
        norm = next((one for one in evidence.layers if one.type.startswith(("BatchNorm", "SyncBatch"))), None)
        steps = evidence.watched.steps
        pairs = zip(steps["batch_size"], steps["training"], strict=True)
        sizes = [int(size) for size, mode in pairs if size > 0 and mode != 0]
        least = SMALL if _do_not_fit(evidence) else FEW
        if norm is None or len(sizes) < 10 or sum(size <= least for size in sizes) < MOST * len(sizes):
            return
        size = max(set(sizes), key=sizes.count)
        saw = f"{norm.type} {norm.name} is trained with batches of {size}"
        modes = evidence.experiments.modes
        if modes is not None and _do_not_fit(evidence):
            saw += f"; loss {modes.training:.3g} in training mode, {modes.evaluation:.3g} in evaluation mode"
        place = evidence.place_of(Kind.BATCH_SIZE) or norm.place
        sure = None if size <= FEW else 0.7
        yield self.finding(evidence, saw, kind=Kind.BATCH_SIZE, values=(32, 16), place=place, confidence=sure)


def _do_not_fit(evidence: Evidence) -> bool:
    """Whether the running statistics make a trained model much worse on a batch that it was trained on."""
    modes, known = evidence.experiments.modes, finite(losses(evidence))
    if modes is None or not known or modes.training <= 0:
        return False
    gap = modes.evaluation - modes.training
    return modes.evaluation > WORSE * modes.training and gap > OF_START * known[0]
