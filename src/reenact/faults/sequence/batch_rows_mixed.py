"""SQ02 batch-rows-mixed

What
    In evaluation mode, the output for one row of a batch changes when the other rows change.
Why
    Attention or recurrence runs along the batch instead of along the sequence: most often `batch_first`
    is missing, a reshape mixes the axes, or a softmax is taken over the rows.
Symptom
    The answer for a row depends on its batch; the model does not learn what the order of a sequence says.
Example
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(4, 16)
            self.head = nn.Linear(16, 2)

        def forward(self, series):
            return self.head(self.lstm(series)[0].mean(1))

    torch.manual_seed(0)
    x = torch.randn(96, 6, 4)
    y = (x[:, 0, 0] > 0).long()
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(20):
        for rows, labels in DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(rows), labels).backward()
            optimizer.step()
Instead
    -         self.lstm = nn.LSTM(4, 16)
    +         self.lstm = nn.LSTM(4, 16, batch_first=True)
Fix safety
    Unsafe: it changes what is trained. `batch_first`, another axis or no swap is tried; a program's own
    arithmetic is left to its author.
Sources
    Documentation of torch.nn.LSTM and torch.nn.TransformerEncoderLayer (`batch_first` is False).
"""

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    Findings,
    Needs,
    Observes,
    Severity,
)
from reenact.faults.facts.lines import mover_place
from reenact.faults.fixes.sequence import batch_first
from reenact.program.training.made import axes_made

MOVED = 1e-3
FAULT = Fault(
    code="SQ02",
    name="batch-rows-mixed",
    category=Category.SEQUENCE,
    page=__doc__,
)


@FAULT.detector(
    "RE035",
    "rows-mixed",
    "reenact",
    needs=Needs.EXPERIMENTS,
    observes=Observes.EXPERIMENT,
    why="Rows of a batch are drawn at random: nothing about one can be learned from the others.",
    severity=Severity.ERROR,
    confidence=0.95,
    certainty=Certainty.PROOF,
    is_root_cause=True,
)
def rows_mixed(detector: Detector, evidence: Evidence) -> Findings:
    """In evaluation mode, the output for one row of a batch changes when the other rows change.

    Documentation of torch.nn.LSTM and torch.nn.TransformerEncoderLayer (`batch_first` is False).
    """
    for tested in evidence.experiments.moving("mixing", MOVED):
        where, named = tested.mixing_at, ""
        if where is not None and where.module:
            named = f", first in {where.module} ({where.type})"
        share = f"by {tested.mixing:.2g} of its spread{tested.when}{named}"
        saw = f"other rows of the batch move the output of a row {share}"
        turned = None
        if where is not None:
            turned = axes_made(evidence.files, where.type, where.forward)
        place = turned or mover_place(evidence, where)
        yield detector.finding(
            evidence,
            saw,
            fixes=batch_first(evidence, place),
            place=place,
        )
