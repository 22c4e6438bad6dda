"""Probabilistic day-ahead forecast of a (centred) power demand series with a GRU."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)
rng = np.random.default_rng(5)

HISTORY, HORIZON = 72, 24


def simulate(hours=24 * 260):
    t = np.arange(hours)
    daily = np.sin(2 * np.pi * t / 24) + 0.4 * np.sin(4 * np.pi * t / 24 + 0.7)
    weekly = 0.5 * ((t // 24) % 7 >= 5)
    drift = np.zeros(hours)
    for i in range(1, hours):
        drift[i] = 0.98 * drift[i - 1] + rng.normal(0, 0.05)
    spread = 0.02 + 0.08 * ((t % 24) > 16)
    return daily - weekly + drift + rng.normal(0, 1, hours) * spread, t


series, clock = simulate()
split = 24 * 210
mu, sd = series[:split].mean(), series[:split].std()
series = ((series - mu) / sd).astype(np.float32)
calendar = np.stack(
    [np.sin(2 * np.pi * clock / 24), np.cos(2 * np.pi * clock / 24), ((clock // 24) % 7 >= 5)], axis=1
).astype(np.float32)


def windows(lo, hi, stride):
    past, future, target = [], [], []
    for s in range(lo, hi - HISTORY - HORIZON, stride):
        m = s + HISTORY
        past.append(np.concatenate([series[s:m, None], calendar[s:m]], axis=1))
        future.append(calendar[m:m + HORIZON])
        target.append(series[m:m + HORIZON])
    return TensorDataset(*(torch.tensor(np.stack(a)) for a in (past, future, target)))


train_set, test_set = windows(0, split, 3), windows(split, len(series), 6)


class Forecaster(nn.Module):
    def __init__(self, hidden=48, floor=1e-2):
        super().__init__()
        self.encoder = nn.GRU(4, hidden, batch_first=True)
        self.decoder = nn.GRU(3, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 2)
        self.floor = floor

    def forward(self, past, future):
        _, state = self.encoder(past)
        seq, _ = self.decoder(future, state)
        loc, raw = self.out(seq).unbind(-1)
        return loc + past[:, -HORIZON:, 0], nn.functional.softplus(raw) + self.floor


def gaussian_nll(loc, scale, y):
    # the density of a narrow Gaussian exceeds one, so this goes below zero for a good forecast
    return (torch.log(scale) + 0.5 * ((y - loc) / scale) ** 2).mean()


@torch.no_grad()
def report(model, loader):
    model.eval()
    nll = mae = naive = inside = n = 0.0
    for past, future, y in loader:
        loc, scale = model(past, future)
        b = len(y)
        nll += gaussian_nll(loc, scale, y).item() * b
        mae += (loc - y).abs().mean().item() * b
        naive += (past[:, -HORIZON:, 0] - y).abs().mean().item() * b
        inside += ((loc - y).abs() < 1.645 * scale).float().mean().item() * b
        n += b
    return nll / n, mae / n, naive / n, inside / n


model = Forecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, [7, 10], gamma=0.3)
train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
test_loader = DataLoader(test_set, batch_size=128)

for epoch in range(12):
    model.train()
    running = 0.0
    for past, future, y in train_loader:
        optimizer.zero_grad()
        loss = gaussian_nll(*model(past, future), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        running += loss.item()
    schedule.step()
    nll, mae, naive, inside = report(model, test_loader)
    print(f"epoch {epoch:2d}  train nll {running / len(train_loader):+.3f}  test nll {nll:+.3f}  "
          f"mae {mae:.3f} (seasonal naive {naive:.3f})  90% band covers {inside:.1%}")
