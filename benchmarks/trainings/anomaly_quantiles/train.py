"""Conditional quantiles of temperature anomaly (targets on both sides of zero), non-crossing by construction,
with early stopping on the validation pinball loss and restoring of the best weights."""
import copy

import numpy as np
import torch
from torch import nn

torch.manual_seed(8)
rng = np.random.default_rng(8)
QUANTILES = torch.tensor([0.05, 0.25, 0.5, 0.75, 0.95])


def make(n):
    altitude = rng.uniform(0, 3, n)
    day = rng.uniform(0, 2 * np.pi, n)
    ocean = rng.integers(0, 2, n)
    index = rng.normal(size=(n, 3))
    mean = -1.5 + 2.0 * np.sin(day) * (1 - 0.6 * ocean) - 0.8 * altitude + index[:, 0] * index[:, 1]
    scale = 0.3 + 0.5 * altitude * (1 - 0.5 * ocean)
    noise = rng.gumbel(size=n) - 0.577
    y = mean + scale * noise
    x = np.column_stack([altitude - 1.5, np.sin(day), np.cos(day), ocean, index])
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)


class QuantileNet(nn.Module):
    def __init__(self, d_in, n_q, width=64):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(d_in, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.lowest = nn.Linear(width, 1)
        self.gaps = nn.Linear(width, n_q - 1)

    def forward(self, x):
        h = self.trunk(x)
        first = self.lowest(h)
        return torch.cat([first, first + nn.functional.softplus(self.gaps(h)).cumsum(1)], dim=1)


def pinball(pred, y):
    err = y.unsqueeze(1) - pred
    return torch.maximum(QUANTILES * err, (QUANTILES - 1) * err).mean()


x_train, y_train = make(3000)
x_val, y_val = make(800)
x_test, y_test = make(800)

net = QuantileNet(x_train.shape[1], len(QUANTILES))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.4, patience=2)
constant = pinball(torch.quantile(y_train, QUANTILES).expand(len(y_test), -1), y_test)
print(f"constant quantiles: pinball {constant:.4f}")

best, best_state, bad, PATIENCE = float("inf"), None, 0, 6
for epoch in range(60):
    net.train()
    total = 0.0
    for idx in torch.randperm(len(x_train)).split(40):
        loss = pinball(net(x_train[idx]), y_train[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    net.eval()
    with torch.no_grad():
        val = pinball(net(x_val), y_val).item()
    sched.step(val)
    if val < best - 1e-4:
        best, best_state, bad = val, copy.deepcopy(net.state_dict()), 0
    else:
        bad += 1
    if epoch % 4 == 0:
        print(f"epoch {epoch:3d} train {total / len(x_train):.4f} val {val:.4f} lr {opt.param_groups[0]['lr']:.1e}")
    if bad == PATIENCE:
        print(f"stopped early at epoch {epoch}, best val {best:.4f}")
        break

net.load_state_dict(best_state)
net.eval()
with torch.no_grad():
    q = net(x_test)
inside = ((y_test >= q[:, 0]) & (y_test <= q[:, -1])).float().mean()
print(f"test pinball {pinball(q, y_test):.4f}, 90% interval covers {inside:.3f}, "
      f"median MAE {(q[:, 2] - y_test).abs().mean():.3f}")
