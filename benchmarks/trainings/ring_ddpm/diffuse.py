"""Diffusion model (v-prediction) of points on a noisy ring; samples come from averaged weights."""
import copy
import math
from dataclasses import dataclass

import torch
import torch.nn as nn


@dataclass
class C:
    T: int = 50
    steps: int = 1500
    batch: int = 200
    hidden: int = 96
    lr: float = 3e-3
    decay: float = 0.999


def ring(n):
    a = torch.rand(n) * 2 * math.pi
    r = 1.4 + 0.08 * torch.randn(n)
    return torch.stack([r * a.cos(), r * a.sin()], 1)


class Net(nn.Module):
    def __init__(self, h):
        super().__init__()
        self.register_buffer("freq", 2.0 ** torch.arange(4) * math.pi / 2)
        self.f = nn.Sequential(nn.Linear(2 + 8, h), nn.SiLU(), nn.Linear(h, h), nn.SiLU(), nn.Linear(h, h), nn.SiLU(), nn.Linear(h, 2))
        nn.init.zeros_(self.f[-1].weight)               # starts by predicting zero

    def forward(self, x, t):
        ang = t[:, None] * self.freq
        return self.f(torch.cat([x, ang.sin(), ang.cos()], 1))


def alpha_sigma(t):
    return torch.cos(t * math.pi / 2)[:, None], torch.sin(t * math.pi / 2)[:, None]


@torch.no_grad()
def ddim(net, n, T):
    x = torch.randn(n, 2)
    grid = torch.linspace(1, 0, T + 1)
    for t, s in zip(grid[:-1], grid[1:]):
        a, sg = alpha_sigma(t.expand(n))
        v = net(x, t.expand(n))
        x0, eps = a * x - sg * v, sg * x + a * v
        a2, s2 = alpha_sigma(s.expand(n))
        x = a2 * x0 + s2 * eps
    return x


def energy(a, b):
    return (2 * torch.cdist(a, b).mean() - torch.cdist(a, a).mean() - torch.cdist(b, b).mean()).item()


def on_ring(x):
    return (x.norm(dim=1) - 1.4).abs().lt(0.2).float().mean().item()


def main(c=C()):
    torch.manual_seed(0)
    net = Net(c.hidden)
    avg = copy.deepcopy(net).eval().requires_grad_(False)
    opt = torch.optim.Adam(net.parameters(), lr=c.lr)
    sched = torch.optim.lr_scheduler.LinearLR(opt, 1.0, 0.05, c.steps)
    held = ring(800)
    for step in range(1, c.steps + 1):
        x0, eps, t = ring(c.batch), torch.randn(c.batch, 2), torch.rand(c.batch)     # endless fresh data
        a, sg = alpha_sigma(t)
        loss = (net(a * x0 + sg * eps, t) - (a * eps - sg * x0)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        d = min(c.decay, (1 + step) / (10 + step))      # quick at first, slow later
        with torch.no_grad():
            for p, q in zip(avg.parameters(), net.parameters()):
                p.lerp_(q, 1 - d)
        if step % 300 == 0:
            gen = ddim(avg, 800, c.T)
            print(f"step {step} loss {loss.item():.3f} energy distance {energy(gen, held):.4f} on the ring {on_ring(gen):.2f}")
    gauss = torch.randn(800, 2) * held.std(0)
    print(f"reference: gaussian {energy(gauss, held):.4f} / {on_ring(gauss):.2f}, fresh real points {energy(ring(800), held):.4f} / {on_ring(ring(800)):.2f}")


if __name__ == "__main__":
    main()
