"""Graph-level classification: tell molecules whose extra bonds join equal atoms from the others."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(26)
rng = np.random.default_rng(26)

MAX_NODES, ATOMS = 14, 5


def make_graph(label):
    n = rng.integers(9, MAX_NODES + 1)
    adj = np.zeros((MAX_NODES, MAX_NODES), dtype="float32")
    for i in range(1, n):
        j = rng.integers(0, i)
        adj[i, j] = adj[j, i] = 1
    atoms = rng.integers(0, ATOMS, n)
    # class 1: bonds between equal atoms, class 0: bonds between unequal atoms
    wanted, tries = 0, 0
    while wanted < 4 and tries < 200:
        i, j = rng.integers(0, n, 2)
        tries += 1
        if i == j or adj[i, j] or (atoms[i] == atoms[j]) != bool(label):
            continue
        adj[i, j] = adj[j, i] = 1
        wanted += 1
    x = np.zeros((MAX_NODES, ATOMS), dtype="float32")
    x[np.arange(n), atoms] = 1
    mask = np.zeros(MAX_NODES, dtype="float32")
    mask[:n] = 1
    return adj, x, mask


def make_split(n):
    y = rng.integers(0, 2, n)
    adj, x, mask = map(np.stack, zip(*[make_graph(c) for c in y]))
    return [torch.from_numpy(a) for a in (adj, x, mask, y)]


class GINLayer(nn.Module):
    def __init__(self, dim_in, dim_out):
        super().__init__()
        self.eps = nn.Parameter(torch.zeros(1))
        self.mlp = nn.Sequential(nn.Linear(dim_in, dim_out), nn.ReLU(), nn.Linear(dim_out, dim_out))

    def forward(self, adj, h):
        return F.relu(self.mlp((1 + self.eps) * h + adj @ h))


class MotifNet(nn.Module):
    def __init__(self, dim=16, n_layers=3):
        super().__init__()
        sizes = [ATOMS] + [dim] * n_layers
        self.layers = [GINLayer(a, b) for a, b in zip(sizes[:-1], sizes[1:])]
        self.readout = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, 2))

    def forward(self, adj, x, mask):
        h = x
        for layer in self.layers:
            h = layer(adj, h) * mask.unsqueeze(-1)
        pooled = h.sum(1) / mask.sum(1, keepdim=True)
        return self.readout(pooled)


train, test = make_split(3000), make_split(800)
model = MotifNet()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(1, 21):
    model.train()
    total = 0.0
    for idx in torch.randperm(len(train[3])).split(60):
        adj, x, mask, y = (t[idx] for t in train)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(adj, x, mask), y)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(y)
    if epoch % 5 == 0 or epoch == 1:
        model.eval()
        with torch.no_grad():
            acc = (model(*test[:3]).argmax(1) == test[3]).float().mean().item()
        print(f"epoch {epoch:2d}  train loss {total / len(train[3]):.4f}  test acc {acc:.3f}")
