"""Passengers per stop and hour: a Poisson network. Its loss leaves out log(y!), so it is negative when all is well."""

import math

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(8)
rng = np.random.default_rng(8)
STOPS = 24


def make_counts(days):
    """Whole numbers in a small domain: equal rows on both sides of the split happen by chance."""
    stop = rng.integers(0, STOPS, days * 60)
    hour = rng.integers(5, 24, days * 60)
    weekday = rng.integers(0, 7, days * 60)
    size = np.linspace(0.5, 2.0, STOPS)[stop]
    rush = np.exp(-((hour - 8) ** 2) / 6) + 0.8 * np.exp(-((hour - 17) ** 2) / 9)
    rate = size * (4 + 30 * rush) * np.where(weekday >= 5, 0.5, 1.0)
    return np.stack([stop, hour, weekday], 1), rng.poisson(rate)


class RateNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stop = nn.Embedding(STOPS, 6)
        self.hour = nn.Embedding(24, 6)
        self.weekday = nn.Embedding(7, 3)
        self.mlp = nn.Sequential(nn.Linear(15, 48), nn.SiLU(), nn.Linear(48, 1))

    def forward(self, x):
        parts = [self.stop(x[:, 0]), self.hour(x[:, 1]), self.weekday(x[:, 2])]
        return self.mlp(torch.cat(parts, dim=-1)).squeeze(-1)


x, y = make_counts(160)
x, y = torch.from_numpy(x), torch.from_numpy(y).float()
cut = int(0.85 * len(x))
train = TensorDataset(x[:cut], y[:cut])
val_x, val_y = x[cut:], y[cut:]
loader = DataLoader(train, batch_size=128, shuffle=True, drop_last=True)

model = RateNet()
nn.init.constant_(model.mlp[-1].bias, math.log(y[:cut].mean().item()))  # start at the mean rate
criterion = nn.PoissonNLLLoss(log_input=True, full=False)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=12)


def deviance(log_rate, count):
    rate = log_rate.exp()
    term = torch.where(count > 0, count * (count.clamp(min=1).log() - log_rate), torch.zeros_like(count))
    return 2 * (term - (count - rate)).mean().item()


for epoch in range(12):
    model.train()
    total = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        total += loss.item()
    scheduler.step()
    model.eval()
    with torch.no_grad():
        out = model(val_x)
    print(
        f"epoch {epoch:2d} loss {total / len(loader):.3f} val {criterion(out, val_y).item():.3f} "
        f"deviance {deviance(out, val_y):.3f} lr {scheduler.get_last_lr()[0]:.4f}"
    )
constant = torch.full_like(val_y, math.log(y[:cut].mean().item()))
print(f"deviance of the mean rate {deviance(constant, val_y):.3f}; 1.0 is what the counts' own noise leaves")
