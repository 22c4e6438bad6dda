"""DA09 index-clipped

What
    Indices of an embedding are cut to the size of its table (`clamp`, `min`, `%`), and the data has larger
    ones: seen in the rows of the run, or the table is as large as the number of different values, which the
    largest of them need not be below.
Why
    All that is cut off shares one row of the table, or the row of another thing: the model cannot tell them
    apart.
Symptom
    The loss falls to a floor far above what the data allows; no error is raised.
Example
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset

    class Ratings(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.size = size
            self.article = nn.Embedding(size, 8)
            self.out = nn.Linear(8, 1)

        def forward(self, numbers):
            numbers = numbers.clamp(max=self.size - 1)
            return self.out(self.article(numbers))[:, 0]

    torch.manual_seed(0)
    numbers = torch.randint(0, 60, (400,))
    scores = torch.randn(60)[numbers]
    model = Ratings(20)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for epoch in range(20):
        for rows, wanted in DataLoader(TensorDataset(numbers, scores), batch_size=50, shuffle=True):
            optimizer.zero_grad()
            nn.functional.mse_loss(model(rows), wanted).backward()
            optimizer.step()
Instead
    - model = Ratings(20)
    + model = Ratings(int(numbers.max()) + 1)
Fix safety
    There is nothing to change automatically: the table has to be as large as the largest number, or numbers
    mapped to places in it.
Sources
    Documentation of torch.nn.Embedding (`num_embeddings`: size of the dictionary of embeddings).
"""

import ast

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
from reenact.faults.facts.series import learned
from reenact.program.flow.uses import given
from reenact.program.syntax.excerpt import excerpt
from reenact.program.syntax.pieces import (
    calls_in,
    file_of,
    last_word,
    place_of,
)
from reenact.program.training.lookups import cut_indices

COUNTED = ("unique", "nunique", "set")
FAULT = Fault(
    code="DA09",
    name="index-clipped",
    category=Category.DATA,
    page=__doc__,
)


@FAULT.detector(
    "RE062",
    "index-clipped",
    "reenact",
    needs=Needs.GRAPH,
    observes=Observes.DATA,
    why="Everything whose index is cut off shares one row of the table.",
    severity=Severity.ERROR,
    confidence=0.85,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def index_clipped(detector: Detector, evidence: Evidence) -> Findings:
    """Indices of an embedding are cut to the size of its table (`clamp`, `min`, `%`), and the data
    has larger ones: seen in the rows of the run, or the table is as large as the number of
    different values, which the largest of them need not be below.

    Documentation of torch.nn.Embedding (`num_embeddings`: size of the dictionary of embeddings).
    """
    for index in evidence.files:
        for node, table in cut_indices(index) if not learned(evidence) else ():
            saw = _larger(evidence, table) or _as_many_as_values(table)
            if saw:
                saw = f"{excerpt(node)}: {saw}"
                yield detector.finding(
                    evidence,
                    saw,
                    place=place_of(node),
                )
                return


def _larger(evidence: Evidence, table: ast.Call) -> str:
    """What the rows of the run show: whole numbers beyond the table, which took them without an
    error.
    """
    tables = [layer for layer in evidence.layers if layer.family == "embedding" and layer.weights]
    here = [one for one in tables if one.place is not None and one.place.line == table.lineno]
    sizes = [one.weights[0].shape[0] for one in here]
    train = [
        facts for facts in evidence.watched.data if facts.split == "train" and "int" in facts.dtype
    ]
    seen = [facts.maximum for facts in train if facts.maximum is not None]
    above = [(size, largest) for size in sizes for largest in seen if largest >= size]
    if not above:
        return ""
    return f"the data goes up to {above[0][1]:.0f}, the table has {above[0][0]} rows"


def _as_many_as_values(table: ast.Call) -> str:
    """Whether the table is as large as there are different values."""
    size = table.args[0]
    name = last_word(size)
    values = [size, *(given(file_of(table), name) if name else ())]
    counted = [value for value in values if calls_in(value, *COUNTED)]
    rows = "the table has as many rows as there are values"
    if counted:
        return f"{rows} ({excerpt(counted[0])}), and values are cut to that"
    return ""
