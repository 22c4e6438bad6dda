"""Shared trunk, two heads: gear fault type (classification) and remaining life (regression)."""
import logging

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("gears")
torch.manual_seed(62)


class GearData(Dataset):
    """Vibration windows. The fault sits in the frequency of a weak modulation, the wear in its depth."""

    FREQS = torch.tensor([3.0, 5.0, 7.0, 11.0])

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        t = torch.linspace(0, 1, 100)
        self.kind = torch.randint(4, (n,), generator=g)
        self.depth = 0.3 + 0.7 * torch.rand(n, generator=g)
        phase = 6.283 * torch.rand(n, 2, 1, generator=g)
        carrier = torch.sin(6.283 * 24 * t + phase[:, 0])
        slow = torch.sin(6.283 * self.FREQS[self.kind][:, None] * t + phase[:, 1])
        self.x = carrier * (1 + self.depth[:, None] * slow) + 0.2 * torch.randn(n, 100, generator=g)
        self.life = 1.0 - self.depth

    def __len__(self):
        return len(self.kind)

    def __getitem__(self, i):
        return {"signal": self.x[i], "kind": self.kind[i], "life": self.life[i]}


class Trunk(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(1, 12, 9, padding=4), nn.BatchNorm1d(12), nn.ReLU(),
            nn.Conv1d(12, 24, 9, stride=4, padding=4), nn.BatchNorm1d(24), nn.ReLU(),
            nn.Conv1d(24, dim, 9, stride=3, padding=4), nn.BatchNorm1d(dim), nn.ReLU(),
        )

    def forward(self, x):
        h = self.conv(x.unsqueeze(1))
        return torch.cat([h.mean(-1), h.amax(-1)], dim=1)


class GearNet(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.trunk = Trunk(dim)
        self.kind_head = nn.Linear(2 * dim, 4)
        self.life_head = nn.Sequential(nn.Linear(2 * dim, 16), nn.ReLU(), nn.Linear(16, 1))
        self.register_buffer("center", torch.zeros(2 * dim))

    def forward(self, x):
        h = self.trunk(x)
        if self.training:
            # running mean of the features, used to centre them
            with torch.no_grad():
                self.center.lerp_(h.mean(0), 0.1)
                h = h - self.center
        else:
            h = h - self.center
        return self.kind_head(h), self.life_head(h).squeeze(1)


def evaluate(net, loader):
    net.eval()
    hits, err, n = 0, 0.0, 0
    with torch.no_grad():
        for b in loader:
            kind, life = net(b["signal"])
            hits += (kind.argmax(1) == b["kind"]).sum().item()
            err += (life - b["life"]).abs().sum().item()
            n += len(life)
    return hits / n, err / n


def main():
    train, test = GearData(1600, 1), GearData(500, 2)
    train_loader, test_loader = DataLoader(train, 64, shuffle=True), DataLoader(test, 250)
    net = GearNet()
    opt = torch.optim.Adam(net.parameters(), lr=4e-3)
    base = (test.life - train.life.median()).abs().mean().item()
    log.info("baseline: accuracy 0.25, life MAE %.4f", base)
    for epoch in range(10):
        net.train()
        totals = torch.zeros(2)
        for b in train_loader:
            kind, life = net(b["signal"])
            ce = F.cross_entropy(kind, b["kind"])
            l1 = F.smooth_l1_loss(life, b["life"], beta=0.05)
            opt.zero_grad()
            (ce + 4.0 * l1).backward()
            opt.step()
            totals += torch.stack([ce.detach(), l1.detach()])
        acc, mae = evaluate(net, test_loader)
        ce, l1 = (totals / len(train_loader)).tolist()
        log.info("epoch %d  ce %.4f  life %.4f  | test accuracy %.4f  life MAE %.4f", epoch, ce, l1, acc, mae)


if __name__ == "__main__":
    main()
