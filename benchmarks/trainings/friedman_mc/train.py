"""Friedman regression on a table with gaps; the ensemble of dropout masks is used at prediction time too."""
import numpy as np
import torch
from sklearn.datasets import make_friedman1
from sklearn.preprocessing import QuantileTransformer
from torch import nn
from torch.optim.swa_utils import SWALR, AveragedModel

SEED = 58
np.random.seed(SEED)
torch.manual_seed(SEED)


def load():
    x, y = make_friedman1(n_samples=4000, n_features=9, noise=1.0, random_state=SEED)
    gaps = np.random.default_rng(SEED).random(x.shape) < 0.05
    x[gaps] = np.nan
    return x, y


def features(x, qt):
    missing = np.isnan(x)
    z = qt.transform(x)
    z[missing] = 0.0
    return torch.tensor(np.concatenate([z, missing], axis=1), dtype=torch.float32)


class Block(nn.Module):
    def __init__(self, width, p):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Dropout(p), nn.Linear(2 * width, width))
        self.norm = nn.LayerNorm(width)

    def forward(self, h):
        return h + self.inner(self.norm(h))


class TabularNet(nn.Module):
    def __init__(self, n_in, width=48, p=0.05):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_in, width), Block(width, p), Block(width, p), nn.LayerNorm(width), nn.Linear(width, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


@torch.no_grad()
def mc_predict(net, x, draws=30):
    """Mean and spread over dropout masks: the net stays in training mode on purpose (no batch norm here)."""
    net.train()
    outs = torch.stack([net(x) for _ in range(draws)])
    return outs.mean(0), outs.std(0)


x, y = load()
perm = np.random.permutation(len(y))
tr, va = perm[:3000], perm[3000:]
qt = QuantileTransformer(output_distribution="normal", n_quantiles=200, random_state=SEED).fit(x[tr])
xt, xv = features(x[tr], qt), features(x[va], qt)
mu, sd = y[tr].mean(), y[tr].std()
yt = torch.tensor((y[tr] - mu) / sd, dtype=torch.float32)
yv = torch.tensor(y[va], dtype=torch.float32)

net = TabularNet(xt.shape[1])
opt = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=1e-3)
average = AveragedModel(net)
swa_schedule = SWALR(opt, swa_lr=5e-4, anneal_epochs=4)
huber = nn.HuberLoss(delta=1.0)
EPOCHS, SWA_FROM = 40, 28

for epoch in range(1, EPOCHS + 1):
    net.train()
    total = 0.0
    for idx in torch.randperm(len(xt)).split(64):
        loss = huber(net(xt[idx]), yt[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    if epoch >= SWA_FROM:
        average.update_parameters(net)
        swa_schedule.step()
    if epoch % 5 == 0:
        m, s = mc_predict(net, xv)
        m = m * sd + mu
        rmse = (m - yv).square().mean().sqrt().item()
        print(f"epoch {epoch:2d} huber {total / len(xt):.4f} val rmse {rmse:.3f} mean spread {s.mean() * sd:.3f}")

m, s = mc_predict(average, xv)
rmse = (m * sd + mu - yv).square().mean().sqrt().item()
print(f"averaged weights: rmse {rmse:.3f}, R2 {1 - rmse**2 / yv.var().item():.3f} (mean predictor {yv.std():.3f}, noise 1.0)")
