# Heteroscedastic regression: predict mean and spread of a sensor's log-voltage.
import argparse

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ap = argparse.ArgumentParser()
ap.add_argument("--epochs", type=int, default=12)
ap.add_argument("--batch-size", type=int, default=128)
ap.add_argument("--max-lr", type=float, default=2e-2)
ap.add_argument("--seed", type=int, default=5)
args = ap.parse_args()

torch.manual_seed(args.seed)
rng = np.random.default_rng(args.seed)


def simulate(n):
    temp = rng.uniform(-2, 2, n)
    load = rng.uniform(0, 1, n)
    age = rng.exponential(0.5, n)
    mean = -3.0 - 0.04 * np.sin(3 * temp) - 0.05 * load * age
    spread = 0.004 + 0.02 * load ** 2
    y = mean + spread * rng.standard_normal(n)
    x = np.stack([temp, load, age], 1)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)


x_tr, y_tr = simulate(12000)
x_va, y_va = simulate(3000)
mu, sd = x_tr.mean(0), x_tr.std(0)
x_tr, x_va = (x_tr - mu) / sd, (x_va - mu) / sd
y_center = y_tr.mean()


class MeanScaleNet(nn.Module):
    def __init__(self, d_in, width=64):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(d_in, width), nn.SiLU(),
            nn.Linear(width, width), nn.SiLU(),
        )
        self.loc = nn.Linear(width, 1)
        self.log_scale = nn.Linear(width, 1)
        nn.init.zeros_(self.log_scale.weight)
        nn.init.constant_(self.log_scale.bias, -3.0)

    def forward(self, x):
        h = self.body(x)
        return self.loc(h).squeeze(-1) + y_center, self.log_scale(h).squeeze(-1).clamp(-8, 2)


def gaussian_nll(loc, log_scale, y):
    return log_scale + 0.5 * ((y - loc) * torch.exp(-log_scale)) ** 2 + 0.5 * np.log(2 * np.pi)


net = MeanScaleNet(3)
train_dl = DataLoader(TensorDataset(x_tr, y_tr), batch_size=args.batch_size, shuffle=True, drop_last=True)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=args.max_lr, epochs=args.epochs, steps_per_epoch=len(train_dl), pct_start=0.25)

for epoch in range(args.epochs):
    net.train()
    running = 0.0
    for xb, yb in train_dl:
        opt.zero_grad()
        loss = gaussian_nll(*net(xb), yb).mean()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        opt.step()
        sched.step()
        running += loss.item()
    net.eval()
    with torch.no_grad():
        loc, ls = net(x_va)
        nll = gaussian_nll(loc, ls, y_va).mean().item()
        inside = ((y_va - loc).abs() < 1.645 * ls.exp()).float().mean().item()
        r2 = 1 - ((y_va - loc) ** 2).mean().item() / y_va.var().item()
    if epoch % 3 == 0 or epoch == args.epochs - 1:
        print(f"epoch {epoch:02d}  train nll {running / len(train_dl):+.3f}  val nll {nll:+.3f}  90% cover {inside:.3f}  r2 {r2:.3f}  lr {sched.get_last_lr()[0]:.2e}")

const = gaussian_nll(y_tr.mean(), y_tr.std().log(), y_va).mean().item()
print(f"constant Gaussian baseline nll {const:+.3f}")
