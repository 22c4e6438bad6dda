"""Tide-level forecasting with a 1-D conv net; the rate follows a smoothed loss on a fixed probe set."""
import math
import resource
import time

import torch
from torch import nn

torch.manual_seed(17)


def tide_series(n):
    t = torch.arange(n) * 0.25
    level = (
        1.2 * torch.sin(2 * math.pi * t / 12.42)
        + 0.5 * torch.sin(2 * math.pi * t / 12.0 + 0.7)
        + 0.2 * torch.sin(2 * math.pi * t / 25.8)
    )
    surge = torch.zeros(n)
    kicks = 0.05 * torch.randn(n)
    for i in range(1, n):
        surge[i] = 0.97 * surge[i - 1] + kicks[i]
    return level + surge


def windows(series, length=96, ahead=8):
    x = series.unfold(0, length, 1)[: -ahead]
    y = series[length + ahead - 1 :]
    return x[:, None, :], y[: len(x)]


class TideNet(nn.Module):
    def __init__(self, ch=24):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(1, ch, 7, stride=2, padding=3), nn.ReLU(),
            nn.Conv1d(ch, ch, 5, stride=2, padding=2), nn.ReLU(),
            nn.Conv1d(ch, ch, 3, stride=2, padding=1), nn.ReLU(),
            nn.Flatten(), nn.Linear(ch * 12, 32), nn.ReLU(), nn.Linear(32, 1),
        )

    def forward(self, x):
        return self.net(x).squeeze(-1)


class SmoothedPlateau:
    """Lowers the rate when the exponential average of the probe loss stops falling."""

    def __init__(self, optimizer, beta=0.95, patience=120, factor=0.5):
        self.optimizer, self.beta, self.patience, self.factor = optimizer, beta, patience, factor
        self.value, self.best, self.bad = None, float("inf"), 0

    def update(self, loss):
        self.value = loss if self.value is None else self.beta * self.value + (1 - self.beta) * loss
        if self.value < self.best * 0.999:
            self.best, self.bad = float(self.value), 0
        else:
            self.bad += 1
        if self.bad > self.patience:
            for group in self.optimizer.param_groups:
                group["lr"] *= self.factor
            self.bad = 0


series = tide_series(4200)
x_all, y_all = windows(series)
x_train, y_train = x_all[:3000], y_all[:3000]
x_probe, y_probe = x_all[3150:3350], y_all[3150:3350]
x_test, y_test = x_all[3460:], y_all[3460:]

model = TideNet()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
mse = nn.MSELoss()
plateau = SmoothedPlateau(opt)

for epoch in range(8):
    model.train()
    start, total = time.time(), 0.0
    for idx in torch.randperm(len(x_train)).split(50):
        opt.zero_grad()
        loss = mse(model(x_train[idx]), y_train[idx])
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
        plateau.update(mse(model(x_probe), y_probe))
    model.eval()
    with torch.no_grad():
        rmse = mse(model(x_test), y_test).sqrt().item()
    mem = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"epoch {epoch + 1} train mse {total / len(x_train):.4f} test rmse {rmse:.4f} "
        f"probe {float(plateau.value):.4f} | {time.time() - start:.1f}s, {mem:.0f} MB"
    )
