"""Graph regression by message passing: predict a property of random molecules."""

import numpy as np
import torch
import torch.nn as nn

ATOMS = 4


def random_graph(rng):
    n = int(rng.integers(5, 12))
    kinds = rng.integers(0, ATOMS, n)
    edges = [(i, int(rng.integers(0, i))) for i in range(1, n)]
    for _ in range(int(rng.integers(0, 3))):
        a, b = rng.choice(n, 2, replace=False)
        edges.append((int(a), int(b)))
    charge = np.array([0.5, -1.0, 1.5, -0.3])[kinds]
    value = charge.sum() + sum(charge[a] * charge[b] for a, b in edges)
    src = [a for a, b in edges] + [b for a, b in edges]
    dst = [b for a, b in edges] + [a for a, b in edges]
    return torch.tensor(kinds), torch.tensor([src, dst]), float(value)


def collate(graphs):
    kinds, edges, owner, values, offset = [], [], [], [], 0
    for g, (k, e, v) in enumerate(graphs):
        kinds.append(k)
        edges.append(e + offset)
        owner.append(torch.full((len(k),), g))
        values.append(v)
        offset += len(k)
    return torch.cat(kinds), torch.cat(edges, dim=1), torch.cat(owner), torch.tensor(values)


class MessagePassing(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.message = nn.Sequential(nn.Linear(2 * dim, dim), nn.ReLU(), nn.Linear(dim, dim))
        self.update = nn.GRUCell(dim, dim)

    def forward(self, h, edges):
        src, dst = edges
        m = self.message(torch.cat([h[src], h[dst]], dim=1))
        incoming = torch.zeros_like(h).index_add_(0, dst, m)
        return self.update(incoming, h)


class MPNN(nn.Module):
    def __init__(self, dim=32, rounds=2):
        super().__init__()
        self.embed = nn.Embedding(ATOMS, dim)
        self.rounds = nn.ModuleList(MessagePassing(dim) for _ in range(rounds))
        self.readout = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, 1))

    def forward(self, kinds, edges, owner, n_graphs):
        h = self.embed(kinds)
        for layer in self.rounds:
            h = layer(h, edges)
        per_node = self.readout(h).squeeze(1)
        return torch.zeros(n_graphs).index_add_(0, owner, per_node)


def main():
    torch.manual_seed(44)
    rng = np.random.default_rng(44)
    graphs = [random_graph(rng) for _ in range(1400)]
    train, test = graphs[:1100], graphs[1100:]
    values = np.array([g[2] for g in train])
    mean, std = values.mean(), values.std()
    model = MPNN()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    epochs = 8
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    test_batch = collate(test)
    for epoch in range(epochs):
        model.train()
        order, total = rng.permutation(len(train)), 0.0
        for start in range(0, len(order), 50):
            kinds, edges, owner, y = collate([train[i] for i in order[start:start + 50]])
            loss = nn.functional.mse_loss(model(kinds, edges, owner, len(y)), ((y - mean) / std).float())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(y)
        scheduler.step()
        model.eval()
        with torch.no_grad():
            kinds, edges, owner, y = test_batch
            pred = model(kinds, edges, owner, len(y)) * std + mean
            r2 = 1 - ((pred - y) ** 2).sum() / ((y - y.mean()) ** 2).sum()
        print(f"epoch {epoch:2d} train mse {total / len(train):.4f} test r2 {r2:.4f}")


if __name__ == "__main__":
    main()
