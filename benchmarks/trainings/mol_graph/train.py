"""Graph regression: predict a (log) partition coefficient for small random molecules."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader

ATOMS = 5


class Molecule:
    __slots__ = ("atoms", "edges", "target")

    def __init__(self, atoms, edges, target):
        self.atoms, self.edges, self.target = atoms, edges, target


def random_molecule(rng):
    n = int(rng.integers(6, 15))
    atoms = rng.choice(ATOMS, size=n, p=[0.5, 0.2, 0.15, 0.1, 0.05])
    parents = [int(rng.integers(max(0, i - 3), i)) for i in range(1, n)]
    edges = [(i + 1, p) for i, p in enumerate(parents)]
    contribution = np.array([0.35, -0.7, -1.0, 0.5, 0.9])
    value = contribution[atoms].sum()
    for a, b in edges:
        pair = {int(atoms[a]), int(atoms[b])}
        if pair == {1, 2}:
            value += 1.2
        if pair == {0, 3}:
            value -= 0.6
    both = np.array(edges + [(b, a) for a, b in edges]).T
    return Molecule(torch.tensor(atoms), torch.tensor(both), float(value + rng.normal(0, 0.1)))


def collate(mols):
    offset, atoms, edges, owner = 0, [], [], []
    for k, m in enumerate(mols):
        atoms.append(m.atoms)
        edges.append(m.edges + offset)
        owner.append(torch.full((len(m.atoms),), k))
        offset += len(m.atoms)
    y = torch.tensor([m.target for m in mols])
    return torch.cat(atoms), torch.cat(edges, dim=1), torch.cat(owner), y


class MessageLayer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.message = nn.Linear(2 * width, width)
        self.update = nn.GRUCell(width, width)

    def forward(self, h, edges):
        src, dst = edges
        m = torch.relu(self.message(torch.cat([h[src], h[dst]], dim=1)))
        return self.update(torch.zeros_like(h).index_add_(0, dst, m), h)


def mlp(sizes, act=nn.ReLU):
    layers = []
    for a, b in zip(sizes[:-1], sizes[1:]):
        layers += [nn.Linear(a, b), act()]
    return nn.Sequential(*layers)


class PropertyNet(nn.Module):
    def __init__(self, width=40, rounds=3):
        super().__init__()
        self.atom = nn.Embedding(ATOMS, width)
        self.layers = nn.ModuleList([MessageLayer(width) for _ in range(rounds)])
        self.readout = mlp([width, 64, 1])

    def forward(self, atoms, edges, owner, count):
        h = self.atom(atoms)
        for layer in self.layers:
            h = layer(h, edges)
        pooled = h.new_zeros(count, h.size(1)).index_add_(0, owner, h)
        return self.readout(pooled).squeeze(1)


def main():
    torch.manual_seed(52)
    rng = np.random.default_rng(52)
    train = [random_molecule(rng) for _ in range(2000)]
    val = [random_molecule(rng) for _ in range(500)]
    loader = DataLoader(train, batch_size=50, shuffle=True, collate_fn=collate)
    val_loader = DataLoader(val, batch_size=250, collate_fn=collate)
    model = PropertyNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

    targets = np.array([m.target for m in val])
    print(f"target mean {targets.mean():.2f} std {targets.std():.2f} min {targets.min():.2f} max {targets.max():.2f}")
    for epoch in range(1, 21):
        model.train()
        total = 0.0
        for atoms, edges, owner, y in loader:
            loss = nn.functional.mse_loss(model(atoms, edges, owner, len(y)), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(y)
        model.eval()
        with torch.no_grad():
            err = torch.cat([model(a, e, o, len(y)) - y for a, e, o, y in val_loader])
        rmse = err.square().mean().sqrt().item()
        if epoch % 2 == 0:
            print(f"epoch {epoch:2d}  train mse {total / len(train):.4f}  val rmse {rmse:.3f}  R2 {1 - rmse**2 / targets.var():.3f}", flush=True)


if __name__ == "__main__":
    main()
