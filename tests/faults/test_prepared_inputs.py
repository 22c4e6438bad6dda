"""A model that is asked for the inputs of another one is not judged."""

import pytest

from reenact.accounts.prepared import only_prepares
from reenact.faults.registry import detector
from reenact.testing.faults import evidence_of, findings

pytestmark = pytest.mark.usefixtures("warm_python")

PROBE = """
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(300, 8)
y = (x @ torch.randn(8, 3)).argmax(1)
trunk, head = nn.Sequential(nn.Linear(8, 16), nn.Tanh()), nn.Linear(16, 8)
optimizer = torch.optim.Adam([*trunk.parameters(), *head.parameters()], lr=0.01)
for epoch in range(6):
    for rows in torch.randperm(240).split(40):
        optimizer.zero_grad()
        nn.functional.mse_loss(head(trunk(x[rows])), x[rows]).backward()
        optimizer.step()
with torch.no_grad():
    features = nn.functional.normalize(trunk(x), dim=1)
probe = nn.Linear(16, 3)
optimizer = torch.optim.SGD(probe.parameters(), lr=1.0)
for step in range(40):
    optimizer.zero_grad()
    nn.functional.cross_entropy(probe(features[:240]), y[:240]).backward()
    optimizer.step()
print("accuracy", (probe(features[240:]).argmax(1) == y[240:]).float().mean().item())
"""
JUDGED = """
with torch.no_grad():
    print("val_loss", nn.functional.mse_loss(head(trunk(x)), x).item())
"""


def test_inputs_of_the_next_model_are_no_validation() -> None:
    trace = evidence_of(PROBE, run=True).trace
    assert trace is not None
    assert any(0.05 < overlap.share < 0.95 for overlap in trace.overlaps)
    assert only_prepares(trace)
    assert findings(detector("RE018"), PROBE) == ()


def test_a_model_that_is_asked_in_the_end_is_judged() -> None:
    trace = evidence_of(PROBE + JUDGED, run=True).trace
    assert trace is not None
    assert not only_prepares(trace)
