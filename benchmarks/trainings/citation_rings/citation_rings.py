"""Node classification on a synthetic citation graph with a two layer graph convolution.

Papers of the same field cite each other more often than papers of other fields.
A few papers are never cited and cite nothing; their class must come from the words alone.
"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def make_graph(n=900, fields=5, words=60, seed=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, fields, n)
    topic = rng.normal(size=(fields, words))
    x = (topic[y] * 0.35 + rng.normal(size=(n, words))).astype(np.float32)
    edges = []
    lonely = set(rng.choice(n, 12, replace=False).tolist())
    for i in range(n):
        if i in lonely:
            continue
        for _ in range(3):
            if rng.random() < 0.8:
                pool = np.flatnonzero(y == y[i])
            else:
                pool = np.arange(n)
            j = int(rng.choice(pool))
            if j != i and j not in lonely:
                edges.append((i, j))
    a = np.zeros((n, n), dtype=np.float32)
    for i, j in edges:
        a[i, j] = a[j, i] = 1.0
    return torch.from_numpy(x), torch.from_numpy(y).long(), torch.from_numpy(a)


def normalise(adj):
    """D^-1/2 A D^-1/2"""
    deg = adj.sum(1)
    inv = deg.pow(-0.5)
    return inv[:, None] * adj * inv[None, :]


class GraphConv(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.neigh = nn.Linear(d_in, d_out)
        self.own = nn.Linear(d_in, d_out, bias=False)

    def forward(self, a, h):
        return a @ self.neigh(h) + self.own(h)


class Net(nn.Module):
    def __init__(self, d_in, d_hidden, classes):
        super().__init__()
        self.c1 = GraphConv(d_in, d_hidden)
        self.c2 = GraphConv(d_hidden, classes)
        self.drop = nn.Dropout(0.5)

    def forward(self, a, x):
        h = F.relu(self.c1(a, self.drop(x)))
        return self.c2(a, self.drop(h))


def accuracy(model, a, x, y, mask):
    model.eval()
    with torch.no_grad():
        pred = model(a, x).argmax(1)
    return (pred[mask] == y[mask]).float().mean().item()


def main():
    torch.manual_seed(0)
    x, y, adj = make_graph()
    a = normalise(adj)
    order = torch.randperm(len(y))
    train, val, test = order[:200], order[200:400], order[400:]
    model = Net(x.shape[1], 32, 5)
    opt = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=5e-4)
    for epoch in range(150):
        model.train()
        loss = F.cross_entropy(model(a, x)[train], y[train])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if epoch % 25 == 0 or epoch == 149:
            print(f"epoch {epoch:3d} loss {loss.item():.4f} val {accuracy(model, a, x, y, val):.3f}")
    print(f"test accuracy {accuracy(model, a, x, y, test):.3f}")


if __name__ == "__main__":
    main()
