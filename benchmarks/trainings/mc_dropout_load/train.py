"""Day-ahead load forecast with uncertainty: a dilated conv net kept in dropout mode while forecasting (MC dropout),
trained by the pinball loss for three quantiles, with early stopping on the validation part."""
import copy

import numpy as np
import torch
from torch import nn

SEED = 19
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)
WINDOW, AHEAD = 72, 6
QUANTILES = torch.tensor([0.1, 0.5, 0.9])


def load_series(hours=5200):
    t = np.arange(hours)
    daily = 1.2 * np.sin(2 * np.pi * t / 24) + 0.5 * np.sin(4 * np.pi * t / 24 + 1)
    weekly = 0.6 * np.cos(2 * np.pi * t / 168)
    weather = np.zeros(hours)
    for i in range(1, hours):
        weather[i] = 0.97 * weather[i - 1] + 0.12 * rng.standard_normal()
    return (daily + weekly + weather + 0.12 * rng.standard_normal(hours)).astype(np.float32)


series = load_series()
n_train, n_val = 3600, 700
mu, sd = series[:n_train].mean(), series[:n_train].std()
z = torch.from_numpy((series - mu) / sd)


def windows(lo, hi):
    w = z[lo:hi].unfold(0, WINDOW + AHEAD, 1)
    return w[:, :WINDOW].contiguous(), w[:, WINDOW:].contiguous()


x_tr, y_tr = windows(0, n_train)
x_va, y_va = windows(n_train, n_train + n_val)
x_te, y_te = windows(n_train + n_val, len(z))


class Forecaster(nn.Module):
    def __init__(self, ch=24, p=0.1):
        super().__init__()
        self.convs = nn.ModuleList(
            nn.Conv1d(1 if i == 0 else ch, ch, 3, dilation=d) for i, d in enumerate((1, 2, 4, 8, 16))
        )
        self.drop = nn.Dropout(p)
        self.head = nn.Linear(ch + 24, AHEAD * len(QUANTILES))

    def forward(self, x):
        h = x[:, None]
        for conv in self.convs:
            d = conv.dilation[0]
            h = torch.relu(conv(nn.functional.pad(h, (2 * d, 0))))
        feat = torch.cat([self.drop(h[:, :, -1]), x[:, -24:]], 1)
        return self.head(feat).view(-1, AHEAD, len(QUANTILES))


def pinball(pred, target):
    err = target[..., None] - pred
    return torch.maximum(QUANTILES * err, (QUANTILES - 1) * err).mean()


@torch.no_grad()
def mc_forecast(net, x, draws=16):
    net.train()
    return torch.stack([net(x) for _ in range(draws)]).mean(0)


net = Forecaster()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=1)
best, best_state, patience, waited = float("inf"), None, 4, 0
for epoch in range(1, 10):
    net.train()
    total = 0.0
    for idx in torch.randperm(len(x_tr)).split(64):
        loss = pinball(net(x_tr[idx]), y_tr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    va = pinball(mc_forecast(net, x_va, 8), y_va).item()
    plateau.step(va)
    flag = ""
    if va < best - 1e-4:
        best, best_state, waited, flag = va, copy.deepcopy(net.state_dict()), 0, "*"
    else:
        waited += 1
    print(f"epoch {epoch:2d} train pinball {total / len(x_tr):.4f} val pinball {va:.4f} lr {opt.param_groups[0]['lr']:.1e} {flag}")
    if waited >= patience:
        print("early stop")
        break

net.load_state_dict(best_state)
q = mc_forecast(net, x_te)
mae = (q[..., 1] - y_te).abs().mean().item() * sd
naive = (x_te[:, -24:-24 + AHEAD] - y_te).abs().mean().item() * sd
inside = ((y_te >= q[..., 0]) & (y_te <= q[..., 2])).float().mean().item()
print(f"test MAE {mae:.3f} (same hour yesterday {naive:.3f}), 80% band holds {inside:.1%}")
