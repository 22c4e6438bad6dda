"""Forecast of tomorrow's bread orders from the last four weeks.

The days are in order and stay in order: windows are fed from the oldest to the newest, the model
is validated on the quarter that follows and tested on the last one. The network predicts the change
against the same weekday of last week, so its last layer starts at zero (= seasonal naive forecast).
"""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

WINDOW = 28


def orders(days=2200, seed=8):
    r = np.random.default_rng(seed)
    t = np.arange(days)
    weekly = np.array([0.8, 0.82, 0.85, 0.9, 1.15, 1.5, 0.4])[t % 7]
    yearly = 1 + 0.15 * np.sin(2 * np.pi * t / 365.25)
    drift = np.zeros(days)
    for i in range(1, days):
        drift[i] = 0.9 * drift[i - 1] + r.normal(0, 0.06)
    return (300 * weekly * yearly * np.exp(drift) + r.normal(0, 6, days)).astype(np.float32)


def windows(series):
    x = np.stack([series[i:i + WINDOW] for i in range(len(series) - WINDOW)])
    return x, series[WINDOW:]


class Forecaster(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.conv = nn.Conv1d(1, hidden, kernel_size=7)
        self.mix = nn.Sequential(nn.Flatten(), nn.GELU(), nn.Linear(hidden * (WINDOW - 6), 64), nn.GELU())
        self.out = nn.Linear(64, 1)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, x):
        seasonal = x[:, -7]
        change = self.out(self.mix(self.conv(x.unsqueeze(1)))).squeeze(1)
        return seasonal + change


def mae(pred, true, scale):
    return (pred - true).abs().mean().item() * scale


def main():
    torch.manual_seed(2)
    y = orders()
    n_test, n_val = 180, 180
    fit_part = y[: -(n_test + n_val)]
    mu, sd = float(fit_part.mean()), float(fit_part.std())
    z = (y - mu) / sd
    x, t = windows(z)
    x, t = torch.from_numpy(x), torch.from_numpy(t)
    tr = slice(0, len(t) - n_test - n_val)
    va = slice(len(t) - n_test - n_val, len(t) - n_test)
    te = slice(len(t) - n_test, len(t))
    loader = DataLoader(TensorDataset(x[tr], t[tr]), batch_size=32, shuffle=False)
    model = Forecaster()
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    best, keep = float("inf"), None
    for epoch in range(30):
        model.train()
        for xb, tb in loader:
            loss = nn.functional.l1_loss(model(xb), tb)
            opt.zero_grad()
            loss.backward()
            opt.step()
        model.eval()
        with torch.no_grad():
            v = mae(model(x[va]), t[va], sd)
        if v < best:
            best, keep = v, {k: p.clone() for k, p in model.state_dict().items()}
        if epoch % 6 == 5:
            print(f"epoch {epoch + 1} validation MAE {v:.2f} loaves (best {best:.2f})")
    model.load_state_dict(keep)
    model.eval()
    with torch.no_grad():
        print(f"test MAE {mae(model(x[te]), t[te], sd):.2f}")
    print(f"same weekday last week {mae(x[te][:, -7], t[te], sd):.2f}, mean {mae(torch.zeros_like(t[te]), t[te], sd):.2f}")


if __name__ == "__main__":
    main()
