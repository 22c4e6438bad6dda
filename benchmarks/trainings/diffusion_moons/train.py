"""DDPM on the two-moons distribution; judged by the sliced Wasserstein distance between samples and data."""
import math

import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import make_moons

torch.manual_seed(83)
np.random.seed(83)

T = 60
BATCH = 256
STEPS = 1800


class Schedule:
    def __init__(self, steps):
        s = torch.linspace(0, 1, steps + 1)
        bar = torch.cos((s + 0.008) / 1.008 * math.pi / 2) ** 2
        self.beta = (1 - bar[1:] / bar[:-1]).clamp(max=0.5)
        self.alpha = 1 - self.beta
        self.abar = torch.cumprod(self.alpha, 0)

    def diffuse(self, x0, t, noise):
        a = self.abar[t][:, None]
        return a.sqrt() * x0 + (1 - a).sqrt() * noise


class Denoiser(nn.Module):
    def __init__(self, width=96, bands=8):
        super().__init__()
        self.register_buffer("freq", 2.0 ** torch.arange(bands // 2) * math.pi)
        dims = [2 + bands, width, width, width, 2]
        layers = []
        for a, b in zip(dims[:-1], dims[1:]):
            layers += [nn.Linear(a, b), nn.SiLU()]
        self.net = nn.Sequential(*layers)

    def forward(self, x, t):
        ang = (t.float() / T)[:, None] * self.freq
        return self.net(torch.cat([x, ang.sin(), ang.cos()], 1))


@torch.no_grad()
def sample(model, sched, n):
    model.eval()
    x = torch.randn(n, 2)
    for k in range(T - 1, -1, -1):
        t = torch.full((n,), k)
        eps = model(x, t)
        a, ab, b = sched.alpha[k], sched.abar[k], sched.beta[k]
        x = (x - b / (1 - ab).sqrt() * eps) / a.sqrt()
        if k:
            x = x + b.sqrt() * torch.randn_like(x)
    model.train()
    return x


def sliced_distance(a, b, directions=64):
    d = torch.randn(2, directions, generator=torch.Generator().manual_seed(0))
    d = d / d.norm(dim=0)
    return ((a @ d).sort(0).values - (b @ d).sort(0).values).abs().mean().item()


def main():
    pts, _ = make_moons(6000, noise=0.06, random_state=83)
    pts = (pts - pts.mean(0)) / pts.std(0)
    data = torch.tensor(pts, dtype=torch.float32)
    held = data[4500:]
    data = data[:4500]
    sched = Schedule(T)
    model = Denoiser()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    lr = torch.optim.lr_scheduler.CosineAnnealingLR(opt, STEPS, eta_min=1e-4)
    print(f"distance of plain noise: {sliced_distance(torch.randn(1500, 2), held):.4f}")
    avg = 0.0
    for step in range(1, STEPS + 1):
        x0 = data[torch.randint(0, len(data), (BATCH,))]
        t = torch.randint(0, T, (BATCH,))
        noise = torch.randn_like(x0)
        loss = nn.functional.mse_loss(model(sched.diffuse(x0, t, noise), t), noise)
        opt.zero_grad()
        loss.backward()
        opt.step()
        lr.step()
        avg += loss.item()
        if step % 300 == 0:
            dist = sliced_distance(sample(model, sched, 1500), held)
            print(f"step {step:5d} noise mse {avg / 300:.4f} sliced distance {dist:.4f}")
            avg = 0.0


if __name__ == "__main__":
    main()
