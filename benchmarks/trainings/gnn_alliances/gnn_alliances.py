"""Which villages stay neutral: it depends on whether their trading partners lean to one side or are split."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(37)
rng = np.random.default_rng(37)


def make_region(villages=900, partners=6):
    """Two leanings of each village; neutral where the means of its partners' leanings have opposite signs."""
    lean = rng.normal(size=(villages, 2)).astype(np.float32)
    edges = []
    for village in range(villages):
        for partner in rng.choice(villages, partners, replace=False):
            edges.append((village, partner))
    edges = np.array(edges).T
    around = np.zeros_like(lean)
    np.add.at(around, edges[0], lean[edges[1]])
    neutral = (around[:, 0] * around[:, 1] < 0).astype(np.int64)
    return torch.from_numpy(lean), torch.from_numpy(edges), torch.from_numpy(neutral)


class SageLayer(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.self_linear = nn.Linear(a, b)
        self.neighbour_linear = nn.Linear(a, b)

    def forward(self, x, edges):
        target, source = edges
        total = torch.zeros_like(x).index_add_(0, target, x[source])
        count = torch.zeros(len(x)).index_add_(0, target, torch.ones(edges.shape[1])).clamp(min=1)
        return self.self_linear(x) + self.neighbour_linear(total / count.unsqueeze(1))


class Sage(nn.Module):
    def __init__(self, inputs, hidden, classes, dropout=0.1):
        super().__init__()
        self.conv1 = SageLayer(inputs, hidden)
        self.dropout = nn.Dropout(dropout)
        self.lin1 = nn.Linear(hidden, hidden)
        self.lin2 = nn.Linear(hidden, classes)

    def forward(self, x, edges):
        x = self.conv1(x, edges)
        x = self.dropout(x)
        x = self.lin1(x)
        return self.lin2(x)


def main():
    x, edges, y = make_region()
    mask = torch.rand(len(y)) < 0.7
    model = Sage(2, 48, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(1, 151):
        model.train()
        logits = model(x, edges)
        loss = criterion(logits[mask], y[mask])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if epoch % 30 == 0:
            model.eval()
            with torch.no_grad():
                logits = model(x, edges)
            test = (logits[~mask].argmax(1) == y[~mask]).float().mean().item()
            train = (logits[mask].argmax(1) == y[mask]).float().mean().item()
            print(f"epoch {epoch:3d} loss {loss.item():.4f} train acc {train:.3f} test acc {test:.3f}")


if __name__ == "__main__":
    main()
