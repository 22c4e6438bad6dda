"""OP10 unsuitable-batch-size

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

import re
import statistics

from reenact.faults import (
    Category,
    Detector,
    Evidence,
    Fault,
    FaultType,
    Findings,
    JsonValue,
    Kind,
    Needs,
    Observes,
    Severity,
)
from reenact.faults.facts.places import optimizer_name
from reenact.faults.facts.series import learned
from reenact.faults.facts.shapes import trained

FEW_STEPS = 200
MISMATCH = re.compile(r"input batch_size \((\d+)\) to match target batch_size \((\d+)\)")
FAULT = Fault(
    code="OP10",
    name="unsuitable-batch-size",
    category=Category.OPTIMISATION,
    page=__doc__,
)


@FAULT.detector(
    "RE015",
    "batch-size",
    "reenact",
    needs=Needs.TRACE,
    observes=Observes.LOSSES,
    why="A batch too large makes too few updates, one too small makes noisy ones.",
    study=FaultType.HBS,
)
def batch_size(detector: Detector, evidence: Evidence) -> Findings:
    """Batches so large that there are hardly any steps, or so small that each step is mostly noise.

    Masters and Luschi, "Revisiting Small Batch Training for Deep Neural Networks", 2018; Humbatova
    et al., ICSE 2020 (wrong batch size).
    """
    sizes = [float(size) for size in evidence.watched.steps["batch_size"] if size > 0]
    rows = _rows(evidence)
    steps = evidence.step_count
    if not sizes or not rows or evidence.optimizers > 1 or optimizer_name(evidence) == "lbfgs":
        return
    size = statistics.median(sizes)
    doubt = 0.5 if learned(evidence) else 1.0
    if size > rows / 5 and rows > 50 and steps < FEW_STEPS:
        saw = f"batches of {size:.0f} of {rows} rows: {steps} steps in all"
        sure = 0.75 if size > rows / 2 and steps < FEW_STEPS / 4 else 0.55
        values = (16, 32) if rows < 2000 else (32, 64, 128)
        yield detector.finding(
            evidence,
            saw,
            kind=Kind.BATCH_SIZE,
            values=values,
            confidence=sure * doubt,
        )
    elif size <= 2 and rows > 100:
        saw = f"batches of {size:.0f} of {rows} rows"
        sure = 0.6 * doubt
        yield detector.finding(
            evidence,
            saw,
            kind=Kind.BATCH_SIZE,
            values=(32, 16, 64),
            confidence=sure,
        )


@FAULT.detector(
    "NL014",
    "batch-mismatch",
    "neuralint",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="The model expects another number of rows than a batch has.",
    study=FaultType.HBS,
    severity=Severity.ERROR,
    confidence=0.9,
)
def batch_mismatch(detector: Detector, evidence: Evidence) -> Findings:
    """The model is written for batches of one size and is given batches of another, or a reshape
    has changed the number of rows.

    {paper}, f014 of the release.
    """
    if trained(evidence):
        return
    param = evidence.hyperparameter(Kind.BATCH_SIZE)
    given = param.in_force if param is not None else None
    for layer in evidence.static.layers if evidence.static is not None else ():
        fixed = _fixed(layer.settings)
        if fixed is not None and isinstance(given, int) and fixed != given:
            saw = f"{layer.name} takes batches of {fixed}, training gives {given}"
            yield detector.finding(
                evidence,
                saw,
                kind=Kind.BATCH_SIZE,
                values=(fixed,),
            )
            return
    crash = evidence.crash
    found = MISMATCH.search(crash.message) if crash is not None and not crash.facts.own else None
    if crash is not None and found is not None:
        saw = f"{found.group(1)} rows of output for {found.group(2)} labels"
        yield detector.finding(evidence, saw, place=crash.place)


def _rows(evidence: Evidence) -> int:
    """Rows of training data: what the loader says, else what was seen."""
    last = evidence.step_count
    loaders = (event for event in evidence.watched.happened("loader") if event.step < last)
    known = [rows for event in loaders if isinstance(rows := event.facts.get("rows"), int)]
    return max(known, default=evidence.inputs.rows_seen if evidence.inputs is not None else 0)


def _fixed(settings: dict[str, JsonValue]) -> int | None:
    for name in ("batch_shape", "batch_input_shape", "batch_size"):
        value = settings.get(name)
        first = value[0] if isinstance(value, list) and value else value
        if isinstance(first, int) and not isinstance(first, bool):
            return first
    return None
