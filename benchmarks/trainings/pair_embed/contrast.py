"""SimCLR-style embedding of digits, judged by a nearest-neighbour probe."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier


def augment(x):
    """Random shift by up to one pixel, intensity change, noise and a dropped patch."""
    n = len(x)
    x = F.pad(x, (1, 1, 1, 1))
    i, j = torch.randint(0, 3, (2, n))
    rows = (i[:, None] + torch.arange(8))[:, :, None]
    cols = (j[:, None] + torch.arange(8))[:, None, :]
    x = x[torch.arange(n)[:, None, None], 0, rows, cols].unsqueeze(1)
    x = x * (0.7 + 0.6 * torch.rand(n, 1, 1, 1)) + 0.15 * torch.randn(n, 1, 8, 8)
    mask = (torch.rand(n, 1, 4, 4) > 0.12).float()
    return x * F.interpolate(mask, scale_factor=2)


class Encoder(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.Flatten(),
        )
        self.proj = nn.Sequential(nn.Linear(64 * 16, 64), nn.ReLU(), nn.Linear(64, dim))

    def forward(self, x):
        return F.normalize(self.proj(self.trunk(x)), dim=1)


def nt_xent(z1, z2, tau):
    z = torch.cat([z1, z2])
    n = len(z1)
    sim = z @ z.T * tau
    sim = sim.masked_fill(torch.eye(2 * n, dtype=torch.bool), float("-inf"))
    target = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return F.cross_entropy(sim, target)


@torch.no_grad()
def probe(model, xtr, ytr, xte, yte):
    model.eval()
    knn = KNeighborsClassifier(5).fit(model(xtr).numpy(), ytr.numpy())
    return knn.score(model(xte).numpy(), yte.numpy())


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--bs", type=int, default=128)
    ap.add_argument("--tau", type=float, default=0.1)
    ap.add_argument("--lr", type=float, default=2e-3)
    a = ap.parse_args()
    torch.manual_seed(0)
    d = load_digits()
    x = torch.tensor(d.images, dtype=torch.float32)[:, None] / 16
    y = torch.tensor(d.target)
    p = torch.randperm(len(x))
    tr, te = p[:1300], p[1300:]
    model = Encoder()
    opt = torch.optim.Adam(model.parameters(), lr=a.lr, weight_decay=1e-5)
    print(f"before training: knn {probe(model, x[tr], y[tr], x[te], y[te]):.3f}")
    for ep in range(a.epochs):
        model.train()
        perm = tr[torch.randperm(len(tr))]
        tot = k = 0
        for i in range(0, len(perm) - a.bs + 1, a.bs):
            xb = x[perm[i:i + a.bs]]
            loss = nt_xent(model(augment(xb)), model(augment(xb)), a.tau)
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item()
            k += 1
        print(f"epoch {ep + 1} loss {tot / k:.4f} knn {probe(model, x[tr], y[tr], x[te], y[te]):.3f}")


if __name__ == "__main__":
    main()
