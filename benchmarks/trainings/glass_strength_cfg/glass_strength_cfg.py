# Strength of glass bottles. omegaconf for settings, e.g.  python glass_strength_cfg.py optim.lr=0.5
#
# Full-batch L-BFGS with strong Wolfe line search: lr 1.0 is the right value there, the closure runs
# several times per step, and there are no mini batches to shuffle.
import sys

import numpy as np
import torch
from omegaconf import OmegaConf
from sklearn.datasets import load_diabetes

defaults = OmegaConf.create({
    "data": {"rows": 600, "noise": 0.08, "seed": 4},
    "model": {"width": 24},
    "optim": {"lr": 1.0, "outer": 25, "inner": 20, "l2": 2e-4},
})
cfg = OmegaConf.merge(defaults, OmegaConf.from_cli(sys.argv[1:]))
torch.manual_seed(cfg.data.seed)


def bottles(rows, seed):
    r = np.random.default_rng(seed)
    wall = r.uniform(1.5, 4.0, rows)
    cool = r.uniform(0, 1, rows)
    recycled = r.uniform(0, 0.9, rows)
    temp = r.normal(0, 1, rows)
    s = np.sqrt(wall) * (1 + 0.6 * np.sin(3 * cool)) - 0.8 * recycled ** 2 + 0.2 * temp * cool
    return np.stack([wall, cool, recycled, temp], 1), s + r.normal(0, cfg.data.noise, rows)


class Net(torch.nn.Module):
    def __init__(self, d_in, width):
        super().__init__()
        self.hidden = torch.nn.Linear(d_in, width)
        self.again = torch.nn.Linear(width, width)
        self.out = torch.nn.Linear(width, 1)

    def forward(self, x):
        return self.out(torch.tanh(self.again(torch.tanh(self.hidden(x))))).squeeze(-1)


def run(name, x, y):
    n = int(0.75 * len(y))
    mu, sd = x[:n].mean(0), x[:n].std(0)
    my, sy = y[:n].mean(), y[:n].std()
    xt = torch.tensor((x - mu) / sd, dtype=torch.float64)
    yt = torch.tensor((y - my) / sy, dtype=torch.float64)
    net = Net(x.shape[1], cfg.model.width).double()
    opt = torch.optim.LBFGS(net.parameters(), lr=cfg.optim.lr, max_iter=cfg.optim.inner,
                            line_search_fn="strong_wolfe")

    def closure():
        opt.zero_grad()
        fit = ((net(xt[:n]) - yt[:n]) ** 2).mean()
        penalty = sum((p ** 2).sum() for p in net.parameters())
        loss = fit + cfg.optim.l2 * penalty
        loss.backward()
        return loss

    for outer in range(cfg.optim.outer):
        loss = opt.step(closure)
        if outer % 5 == 4:
            with torch.no_grad():
                err = ((net(xt[n:]) - yt[n:]) ** 2).mean().item()
            print(f"{name} outer {outer + 1} objective {loss.item():.5f} held-out mse {err:.4f}")
    print(f"{name}: held-out R2 {1 - err / yt[n:].var().item():.3f} (mean predictor 0.000)")


if __name__ == "__main__":
    run("bottles", *bottles(cfg.data.rows, cfg.data.seed))
    # second table as a sanity check with much noisier targets, stronger penalty
    cfg.optim.l2, cfg.optim.outer = 2e-2, 5
    d = load_diabetes()
    order = np.random.default_rng(0).permutation(len(d.target))
    run("diabetes", d.data[order], d.target[order])
