"""RE015 batch-size

What
    Batches so large that there are hardly any steps, or so small that each step is mostly noise.
Why
    Weights move once a batch. One batch that holds all rows is one step an epoch: an ordinary number of
    epochs is then far too few. One or two rows a batch make gradients that point everywhere.
Symptom
    The loss falls very slowly and smoothly (too large), or jumps about (too small).
Example
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    loader = DataLoader(TensorDataset(x, y), batch_size=300, shuffle=True)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(12):
        for rows, classes in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(rows), classes).backward()
            optimizer.step()
Instead
    - loader = DataLoader(TensorDataset(x, y), batch_size=300, shuffle=True)
    + loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
Fix safety
    Unsafe: another batch size is another training; the learning rate may have to follow.
Sources
    Masters and Luschi, "Revisiting Small Batch Training for Deep Neural Networks", 2018; Humbatova et
    al., ICSE 2020 (wrong batch size).
"""

import statistics

from reenact.rules import Evidence, Fault, Findings, Kind, Needs, Rule
from reenact.rules.own._places import optimizer_name
from reenact.rules.own._series import learned

FEW_STEPS = 200


class BatchSize(Rule):
    code, name, family, fault = "RE015", "batch-size", "reenact", Fault.HBS
    needs = Needs.TRACE
    why = "Weights move once a batch: too few steps go nowhere, steps of one row go everywhere."

    def check(self, evidence: Evidence) -> Findings:
        sizes = [float(size) for size in evidence.watched.steps["batch_size"] if size > 0]
        rows, steps = _rows(evidence), evidence.watched.step_count
        if not sizes or not rows or evidence.optimizers > 1 or "lbfgs" in optimizer_name(evidence):
            return
        size = statistics.median(sizes)
        doubt = 0.5 if learned(evidence) else 1.0
        if size > rows / 5 and rows > 50 and steps < FEW_STEPS:
            saw = f"batches of {size:.0f} of {rows} rows: {steps} steps in all"
            sure = 0.75 if size > rows / 2 and steps < FEW_STEPS / 4 else 0.55
            values = (16, 32) if rows < 2000 else (32, 64, 128)
            yield self.finding(evidence, saw, kind=Kind.BATCH_SIZE, values=values, confidence=sure * doubt)
        elif size <= 2 and rows > 100:
            saw, sure = f"batches of {size:.0f} of {rows} rows", 0.6 * doubt
            yield self.finding(evidence, saw, kind=Kind.BATCH_SIZE, values=(32, 16, 64), confidence=sure)


def _rows(evidence: Evidence) -> int:
    """Rows of training data: what the loader says, else what was seen."""
    last = evidence.watched.step_count
    loaders = (event for event in evidence.watched.happened("loader") if event.step < last)
    known = [rows for event in loaders if isinstance(rows := event.facts.get("rows"), int)]
    return max(known, default=evidence.inputs.rows_seen if evidence.inputs is not None else 0)
