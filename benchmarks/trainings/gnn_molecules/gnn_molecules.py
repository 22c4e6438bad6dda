"""Message passing over generated molecules to predict a ring-strain-like quantity (dense batches with node masks)."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

MAX_ATOMS = 12
KINDS = 4


def molecule(rng):
    n = int(rng.integers(5, MAX_ATOMS + 1))
    kind = rng.integers(0, KINDS, n)
    adj = np.zeros((MAX_ATOMS, MAX_ATOMS), dtype=np.float32)
    for i in range(1, n):
        j = int(rng.integers(max(0, i - 3), i))
        adj[i, j] = adj[j, i] = 1
    for _ in range(int(rng.integers(0, 3))):
        i, j = rng.integers(0, n, 2)
        if i != j:
            adj[i, j] = adj[j, i] = 1
    x = np.zeros((MAX_ATOMS, KINDS + 1), dtype=np.float32)
    x[np.arange(n), kind] = 1
    x[:n, -1] = 1
    degree = adj.sum(1)[:n]
    polar = np.array([0.2, -0.5, 0.9, -1.1])[kind]
    bonds = sum(abs(polar[i] - polar[j]) for i in range(n) for j in range(i) if adj[i, j])
    target = bonds + 0.6 * (degree > 2).sum() * (polar > 0).mean()
    return x, adj, np.float32(target)


def molecules(n, seed):
    rng = np.random.default_rng(seed)
    xs, adjs, ys = zip(*(molecule(rng) for _ in range(n)))
    return torch.tensor(np.stack(xs)), torch.tensor(np.stack(adjs)), torch.tensor(np.array(ys))


class MessageLayer(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.self_weight = nn.Parameter(torch.randn(n_in, n_out))
        self.neighbour_weight = nn.Parameter(torch.randn(n_in, n_out))
        self.bias = nn.Parameter(torch.zeros(n_out))

    def forward(self, h, adj):
        return h @ self.self_weight + adj @ (h @ self.neighbour_weight) + self.bias


class MoleculeNet(nn.Module):
    def __init__(self, hidden=64, layers=4):
        super().__init__()
        sizes = [KINDS + 1] + [hidden] * layers
        self.layers = nn.ModuleList([MessageLayer(a, b) for a, b in zip(sizes[:-1], sizes[1:])])
        self.readout = nn.Linear(hidden, 1)

    def forward(self, x, adj):
        mask = x[..., -1:]
        h = x
        for layer in self.layers:
            h = layer(h, adj) * mask
        pooled = h.sum(dim=1) / mask.sum(dim=1)
        return self.readout(pooled).squeeze(-1)


def evaluate(model, loader, scale):
    model.eval()
    with torch.no_grad():
        error = torch.cat([(model(x, a) - y).abs() for x, a, y in loader])
    return error.mean().item() * scale


def main():
    torch.manual_seed(3)
    x, adj, y = molecules(2000, 0)
    xt, adjt, yt = molecules(400, 1)
    mean, std = y.mean(), y.std()
    train = DataLoader(TensorDataset(x, adj, (y - mean) / std), batch_size=50, shuffle=True)
    test = DataLoader(TensorDataset(xt, adjt, (yt - mean) / std), batch_size=400)
    model = MoleculeNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.MSELoss()
    print(f"mean absolute deviation of the targets {(yt - mean).abs().mean():.3f}")
    for epoch in range(1, 13):
        model.train()
        total = 0.0
        for xb, ab, yb in train:
            loss = criterion(model(xb, ab), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        if epoch % 3 == 0:
            print(f"epoch {epoch} loss {total / len(train):.4f} test error {evaluate(model, test, std.item()):.3f}")


if __name__ == "__main__":
    main()
