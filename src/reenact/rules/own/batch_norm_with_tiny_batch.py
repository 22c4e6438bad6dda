"""RE052 batch-norm-with-tiny-batch

What
    Batch normalisation is trained with batches of one or two rows.
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
    for epoch in range(6):
        for first in range(0, len(x), 2):
            rows, labels = x[first : first + 2], y[first : first + 2]
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(rows), labels).backward()
            optimizer.step()
Instead
    - for epoch in range(6):
    -     for first in range(0, len(x), 2):
    -         rows, labels = x[first : first + 2], y[first : first + 2]
    + for epoch in range(40):
    +     for first in range(0, len(x), 32):
    +         rows, labels = x[first : first + 32], y[first : first + 32]
Fix safety
    Unsafe: another batch size is another training; group normalisation needs no batch.
Sources
    Wu and He, "Group Normalization", ECCV 2018, figure 1; Ioffe, "Batch Renormalization", 2017.
"""

from reenact.rules import Certainty, Evidence, Fault, Findings, Kind, Needs, Rule, Severity

FEW = 2
MOST = 0.9


class BatchNormWithTinyBatch(Rule):
    code, name, family, fault = "RE052", "batch-norm-with-tiny-batch", "reenact", Fault.HBS
    needs = Needs.GRAPH | Needs.TRACE
    severity = Severity.ERROR
    confidence = 0.9
    certainty = Certainty.STRONG
    why = "The statistics of so few rows are noise, and evaluation uses their average."

    def check(self, evidence: Evidence) -> Findings:
        assert evidence.trace is not None
        norm = next((one for one in evidence.layers if one.type.startswith(("BatchNorm", "SyncBatch"))), None)
        steps = evidence.trace.steps
        sizes = [int(size) for size, mode in zip(steps["batch_size"], steps["training"], strict=True)
                 if size == size and size > 0 and mode != 0]  # fmt: skip
        if norm is None or len(sizes) < 10 or sum(size <= FEW for size in sizes) < MOST * len(sizes):
            return
        saw = f"{norm.type} {norm.name} is trained with batches of {max(set(sizes), key=sizes.count)}"
        place = evidence.place_of(Kind.BATCH_SIZE) or norm.place
        yield self.finding(evidence, saw, kind=Kind.BATCH_SIZE, values=(32, 16), place=place)
