# Three soil properties from a reflectance curve at once: log conductivity (below zero), class of texture, clay share.
# Many samples have only some of the three measured. The weights of the tasks are learned (homoscedastic uncertainty),
# so the total loss crosses zero as the fits get good; the two groups of parameters have an optimizer each.
import math

import numpy as np
import torch
from torch import nn

torch.manual_seed(12)
rng = np.random.default_rng(12)

BANDS = 40
wave = np.linspace(0, 1, BANDS)


def sample(n):
    clay = rng.beta(2, 3, n)
    salt = rng.normal(0, 1, n)
    organic = rng.gamma(2.0, 0.5, n)
    curve = (0.3 + 0.5 * wave[None] - 0.4 * clay[:, None] * np.exp(-((wave - 0.7) / 0.08) ** 2)
             - 0.15 * salt[:, None] * np.exp(-((wave - 0.35) / 0.1) ** 2)
             - 0.1 * organic[:, None] * np.exp(-wave / 0.3)[None] + rng.normal(0, 0.02, (n, BANDS)))
    texture = np.digitize(clay + 0.15 * (organic - 1), [0.3, 0.5])
    conductivity = -4.0 + 0.8 * salt + 1.5 * clay
    labels = {"clay": clay, "texture": texture.astype(float), "conductivity": conductivity}
    for name, miss in [("clay", 0.3), ("texture", 0.2), ("conductivity", 0.5)]:
        labels[name] = np.where(rng.random(n) < miss, np.nan, labels[name])
    return curve.astype(np.float32), labels


train_curve, train_lab = sample(2600)
test_curve, test_lab = sample(600)
centre, scale = train_curve.mean(0), train_curve.std(0)
X, Xt = (torch.from_numpy((c - centre) / scale) for c in (train_curve, test_curve))
Y = {k: torch.tensor(train_lab[k], dtype=torch.float32) for k in train_lab}
Yt = {k: torch.tensor(test_lab[k], dtype=torch.float32) for k in test_lab}


class SoilNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(BANDS, 96), nn.SiLU(), nn.Linear(96, 96), nn.SiLU())
        self.clay = nn.Linear(96, 1)
        self.texture = nn.Linear(96, 3)
        self.conductivity = nn.Linear(96, 1)
        nn.init.constant_(self.conductivity.bias, -3.5)

    def forward(self, x):
        h = self.trunk(x)
        return {"clay": self.clay(h).sigmoid().squeeze(-1), "texture": self.texture(h),
                "conductivity": self.conductivity(h).squeeze(-1)}


def masked_losses(out, target):
    losses = {}
    for name, y in target.items():
        known = ~torch.isnan(y)
        if not known.any():
            losses[name] = out[name].sum() * 0.0
        elif name == "texture":
            losses[name] = nn.functional.cross_entropy(out[name][known], y[known].long())
        else:
            losses[name] = nn.functional.mse_loss(out[name][known], y[known])
    return losses


net = SoilNet()
log_var = nn.ParameterDict({k: nn.Parameter(torch.zeros(())) for k in Y})
opt_net = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=1e-3)
opt_var = torch.optim.SGD(log_var.parameters(), lr=0.02)


def report(epoch, total):
    net.eval()
    with torch.no_grad():
        out = net(Xt)
        scores = {}
        for k in ("clay", "conductivity"):
            known = ~torch.isnan(Yt[k])
            resid = (out[k][known] - Yt[k][known]).pow(2).sum()
            scores[k] = 1 - (resid / (Yt[k][known] - Yt[k][known].mean()).pow(2).sum()).item()
        known = ~torch.isnan(Yt["texture"])
        acc = (out["texture"][known].argmax(1) == Yt["texture"][known]).float().mean().item()
    weights = " ".join(f"{k}:{math.exp(-v.item()):.1f}" for k, v in log_var.items())
    print(f"epoch {epoch:2d} total {total:+.3f} R2 clay {scores['clay']:.3f} R2 conductivity {scores['conductivity']:.3f} "
          f"texture acc {acc:.3f} | precision {weights}")


for epoch in range(1, 26):
    net.train()
    total, steps = 0.0, 0
    for idx in torch.randperm(len(X)).split(50):
        losses = masked_losses(net(X[idx]), {k: v[idx] for k, v in Y.items()})
        loss = sum(torch.exp(-log_var[k]) * v + 0.5 * log_var[k] for k, v in losses.items())
        opt_net.zero_grad()
        opt_var.zero_grad()
        loss.backward()
        opt_net.step()
        opt_var.step()
        with torch.no_grad():
            for v in log_var.values():
                v.clamp_(-5, 3)
        total, steps = total + loss.item(), steps + 1
    if epoch % 3 == 1 or epoch == 25:
        report(epoch, total / steps)
