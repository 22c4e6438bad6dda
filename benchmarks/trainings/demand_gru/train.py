"""Hourly demand forecast with a small GRU, one step ahead."""
import math

import torch
from torch import nn

torch.manual_seed(21)


def make_series(n=3000):
    t = torch.arange(n, dtype=torch.float32)
    daily = torch.sin(2 * math.pi * t / 24)
    weekly = 0.5 * torch.cos(2 * math.pi * t / 168)
    drift = 0.3 * torch.sin(t / 400)
    shock = torch.zeros(n)
    for i in range(1, n):
        shock[i] = 0.9 * shock[i - 1] + 0.08 * torch.randn(())
    return daily * (1 + 0.4 * weekly) + weekly + drift + shock


class Windows(torch.utils.data.Dataset):
    def __init__(self, series, length):
        self.chunks = series.unfold(0, length + 1, 4)

    def __len__(self):
        return self.chunks.size(0)

    def __getitem__(self, i):
        c = self.chunks[i]
        return c[:-1].unsqueeze(-1), c[-1]


class Forecaster(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.rnn = nn.GRU(1, hidden, batch_first=True)
        self.head = nn.Sequential(nn.Linear(hidden, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, x):
        out, _ = self.rnn(x)
        return self.head(out[:, -1]).squeeze(-1)


class NormLimiter:
    """Rescales all gradients together when their joint norm passes the limit."""

    def __init__(self, params, limit):
        self.params = list(params)
        self.limit = limit

    @torch.no_grad()
    def __call__(self):
        norm = torch.sqrt(sum(p.grad.pow(2).sum() for p in self.params if p.grad is not None))
        factor = torch.clamp(norm / self.limit, max=1.0)
        for p in self.params:
            if p.grad is not None:
                p.grad.mul_(factor)
        return norm.item()


def rmse(model, loader):
    model.eval()
    se, n = 0.0, 0
    with torch.no_grad():
        for x, y in loader:
            se += (model(x) - y).pow(2).sum().item()
            n += y.numel()
    return math.sqrt(se / n)


def run():
    series = make_series()
    split = 2400
    mean, std = series[:split].mean(), series[:split].std()
    series = (series - mean) / std
    length = 24
    train_set, test_set = Windows(series[:split], length), Windows(series[split:], length)
    train_loader = torch.utils.data.DataLoader(train_set, batch_size=32, shuffle=True)
    test_loader = torch.utils.data.DataLoader(test_set, batch_size=256)

    model = Forecaster()
    limiter = NormLimiter(model.parameters(), limit=10.0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    persistence = torch.stack([x[-1, 0] - y for x, y in test_set]).pow(2).mean().sqrt().item()
    print(f"windows: {len(train_set)} train / {len(test_set)} test, persistence RMSE {persistence:.3f}")

    for epoch in range(15):
        model.train()
        loss_sum, norm_sum = 0.0, 0.0
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            norm_sum += limiter()
            optimizer.step()
            loss_sum += loss.item()
        if epoch % 2 == 0:
            k = len(train_loader)
            print(f"epoch {epoch:2d}  mse {loss_sum / k:.4f}  grad norm {norm_sum / k:.3f}  test RMSE {rmse(model, test_loader):.3f}")
    print(f"final test RMSE {rmse(model, test_loader):.4f}")


if __name__ == "__main__":
    run()
