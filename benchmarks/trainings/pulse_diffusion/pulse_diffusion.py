"""Diffusion model for pulse shapes (24 samples each), v-prediction, cosine schedule, EMA, zero-started last layer.

The training loss never gets near zero: the noise cannot be told from the signal at the noisy end (floor about 0.2).
"""
import copy
import math

import torch
from torch import nn

T, LEN = 50, 24


def pulses(n):
    t = torch.linspace(-1, 1, LEN)
    c = torch.rand(n, 1) * 0.8 - 0.4
    w = 0.2 + 0.1 * torch.rand(n, 1)
    s = torch.where(torch.rand(n, 1) < 0.5, 1.0, -1.0)
    return s * torch.exp(-((t - c) / w) ** 2) * 2


def angles():
    u = (torch.arange(T) + 0.5) / T
    return u * math.pi / 2 * 0.99


class Denoiser(nn.Module):
    def __init__(self, width=160):
        super().__init__()
        self.inp = nn.Linear(LEN + 16, width)
        self.mid = nn.ModuleList([nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU(), nn.Linear(width, width)) for _ in range(2)])
        self.out = nn.Linear(width, LEN)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)
        self.register_buffer("freq", torch.arange(1, 9).float())

    def forward(self, x, a):
        emb = a[:, None] * self.freq
        h = self.inp(torch.cat([x, emb.sin(), emb.cos()], 1))
        for m in self.mid:
            h = h + m(h)
        return self.out(h)


@torch.no_grad()
def sample(net, n):
    ang = angles()
    x = torch.randn(n, LEN)
    for k in reversed(range(T)):
        a = ang[k]
        v = net(x, a.expand(n))
        x0 = a.cos() * x - a.sin() * v
        eps = a.sin() * x + a.cos() * v
        b = ang[k - 1] if k else torch.tensor(0.0)
        x = b.cos() * x0 + b.sin() * eps
    return x


def nearest(samples, bank):
    """rms distance to the closest real pulse"""
    return (torch.cdist(samples, bank).amin(1) / LEN ** 0.5).mean().item()


def main():
    torch.manual_seed(2026)
    net = Denoiser()
    ema = copy.deepcopy(net).eval().requires_grad_(False)
    opt = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=0.0)
    ang = angles()
    steps = 2000
    bank = pulses(4000)
    run = None
    for step in range(1, steps + 1):
        for g in opt.param_groups:
            g["lr"] = 2e-3 * min(1, step / 50) * (1 - step / (steps + 1))
        x0 = pulses(128)
        a = ang[torch.randint(T, (128,))]
        eps = torch.randn_like(x0)
        ca, sa = a.cos()[:, None], a.sin()[:, None]
        v = ca * eps - sa * x0
        loss = nn.functional.mse_loss(net(ca * x0 + sa * eps, a), v)
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            for p, q in zip(ema.parameters(), net.parameters()):
                p.lerp_(q, 0.02)
        run = loss.item() if run is None else 0.98 * run + 0.02 * loss.item()
        if step % 400 == 0:
            print(f"step {step} loss {run:.4f} distance of samples to real pulses {nearest(sample(ema, 400), bank):.4f}")
    fresh = pulses(400)
    cov = torch.linalg.cholesky(torch.cov(bank.T) + 1e-4 * torch.eye(LEN))
    gauss = torch.randn(400, LEN) @ cov.T + bank.mean(0)
    print(f"new real pulses {nearest(fresh, bank):.4f}, fitted gaussian {nearest(gauss, bank):.4f}")


if __name__ == "__main__":
    main()
