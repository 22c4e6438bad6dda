"""Overloaded nodes of a power grid with a two-layer graph convolution, symmetric normalisation."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(50)
NODES = 500


def grid():
    """A ring with chords. Some stations are switched off and have no line at all."""
    ring = torch.stack([torch.arange(NODES), (torch.arange(NODES) + 1) % NODES])
    chords = torch.randint(0, NODES, (2, 700))
    edges = torch.cat([ring, chords], dim=1)
    off = torch.randperm(NODES)[:6]
    keep = ~(torch.isin(edges[0], off) | torch.isin(edges[1], off))
    edges = edges[:, keep]
    adjacency = torch.zeros(NODES, NODES)
    adjacency[edges[0], edges[1]] = 1.0
    adjacency = torch.maximum(adjacency, adjacency.T).fill_diagonal_(0.0)
    return adjacency


def normalise(adjacency):
    degree = adjacency.sum(dim=1)
    d = torch.diag(degree.pow(-0.5))
    return d @ adjacency @ d


class GraphConv(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.own, self.other = nn.Linear(a, b), nn.Linear(a, b, bias=False)

    def forward(self, x, adjacency):
        return self.own(x) + self.other(adjacency @ x)


class GridNet(nn.Module):
    def __init__(self, inputs=4, hidden=32):
        super().__init__()
        self.first, self.second = GraphConv(inputs, hidden), GraphConv(hidden, 2)

    def forward(self, x, adjacency):
        return self.second(F.relu(self.first(x, adjacency)), adjacency)


adjacency = grid()
x = torch.randn(NODES, 4)
demand = x[:, 0] + (adjacency @ x[:, 1:2]).squeeze(1) / adjacency.sum(1).clamp(min=1)
y = (demand + 0.1 * torch.randn(NODES) > 0).long()
order = torch.randperm(NODES)
train, val = order[:300], order[300:]

model, a_hat = GridNet(), normalise(adjacency)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
for epoch in range(1, 101):
    model.train()
    optimizer.zero_grad()
    out = model(x, a_hat)
    loss = F.cross_entropy(out[train], y[train])
    loss.backward()
    optimizer.step()
    if epoch % 20 == 0:
        model.eval()
        with torch.no_grad():
            acc = (model(x, a_hat)[val].argmax(1) == y[val]).float().mean().item()
        print(f"epoch {epoch} loss {loss.item():.4f} val acc {acc:.3f}")
