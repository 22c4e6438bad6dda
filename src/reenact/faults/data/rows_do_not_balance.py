"""DA11 rows-do-not-balance

What
    The rows that train and those that judge do not agree, in a way that has no name of its own: columns or
    channels of the rows that judge come in another order.
Why
    Weights belong to the place of a column: at another place it is read as another quantity.
Symptom
    Good in training, far worse in validation, from the first epoch on; nothing is wrong with single values.
Example
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset

    torch.manual_seed(0)
    x = torch.randn(400, 3) * torch.tensor([1.0, 2.0, 4.0]) + torch.tensor([0.0, 5.0, -5.0])
    y = (x[:, 0] > 0).long()
    loader = DataLoader(TensorDataset(x[:300], y[:300]), batch_size=50, shuffle=True)
    held_out = DataLoader(TensorDataset(x[300:, [2, 1, 0]], y[300:]), batch_size=50)
    model = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(10):
        for rows, labels in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(rows), labels).backward()
            optimizer.step()
        with torch.no_grad():
            right = sum((model(rows).argmax(1) == labels).sum().item() for rows, labels in held_out)
        print("val_accuracy", right / 100)
Instead
    - held_out = DataLoader(TensorDataset(x[300:, [2, 1, 0]], y[300:]), batch_size=50)
    + held_out = DataLoader(TensorDataset(x[300:], y[300:]), batch_size=50)
Fix safety
    Unsafe: it changes the measured result, which was wrong.
Sources
    Breck et al., "Data Validation for Machine Learning", MLSys 2019.
"""

from reenact.accounts import BookName
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
from reenact.faults.facts.imbalances import unnamed_imbalances

FAULT = Fault(
    code="DA11",
    name="rows-do-not-balance",
    category=Category.DATA,
    page=__doc__,
)


@FAULT.detector(
    "RE116",
    "rows-do-not-balance",
    "reenact",
    needs=Needs.ACCOUNTS,
    observes=Observes.DATA,
    why="Weights belong to the place of a column: at another place it is read as another quantity.",
    severity=Severity.ERROR,
    certainty=Certainty.STRONG,
    is_root_cause=True,
    of_held_out_rows=True,
)
def rows_do_not_balance(detector: Detector, evidence: Evidence) -> Findings:
    """What the account of the rows finds and that has no name of its own.

    Breck et al., "Data Validation for Machine Learning", MLSys 2019.
    """
    yield from unnamed_imbalances(detector, evidence, BookName.ROWS)
