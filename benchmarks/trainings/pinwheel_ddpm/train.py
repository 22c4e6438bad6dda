"""Denoising diffusion on a 2-d pinwheel, v-prediction, weights averaged for sampling."""
import copy
import math

import torch
from torch import nn

torch.manual_seed(8)
T = 60
BATCH = 256
STEPS = 1800
EMA_DECAY = 0.995


def pinwheel(n, arms=3):
    radial = 1.6 + 0.3 * torch.randn(n)
    label = torch.randint(arms, (n,))
    angle = 2 * math.pi * label / arms + 0.9 * torch.exp(radial - 1.8) + 0.06 * torch.randn(n)
    return torch.stack([radial * angle.cos(), radial * angle.sin()], dim=1)


class Schedule:
    """Cosine schedule: alpha^2 + sigma^2 = 1."""

    def __init__(self, steps):
        s = torch.arange(1, steps + 1) / (steps + 1)
        self.alpha = torch.cos(s * math.pi / 2)
        self.sigma = torch.sin(s * math.pi / 2)

    def noisy(self, x, eps, t):
        return self.alpha[t, None] * x + self.sigma[t, None] * eps

    def velocity(self, x, eps, t):
        return self.alpha[t, None] * eps - self.sigma[t, None] * x


class VelocityNet(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.register_buffer("freqs", 2.0 ** torch.arange(0, 6) * math.pi / T)
        self.inp = nn.Linear(2 + 12, width)
        self.mid = nn.Linear(width, width)
        self.mid2 = nn.Linear(width, width)
        self.out = nn.Linear(width, 2)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, x, t):
        phase = t[:, None] * self.freqs
        h = torch.nn.functional.silu(self.inp(torch.cat([x, phase.sin(), phase.cos()], dim=1)))
        h = h + torch.nn.functional.silu(self.mid(h))
        h = h + torch.nn.functional.silu(self.mid2(h))
        return self.out(h)


@torch.no_grad()
def ddim(net, sched, n):
    x = torch.randn(n, 2)
    for i in reversed(range(T)):
        t = torch.full((n,), i)
        v = net(x, t)
        x0 = sched.alpha[i] * x - sched.sigma[i] * v
        eps = sched.sigma[i] * x + sched.alpha[i] * v
        x = x0 if i == 0 else sched.alpha[i - 1] * x0 + sched.sigma[i - 1] * eps
    return x


def energy_distance(a, b):
    return (2 * torch.cdist(a, b).mean() - torch.cdist(a, a).mean() - torch.cdist(b, b).mean()).item()


sched = Schedule(T)
net = VelocityNet()
ema = copy.deepcopy(net).requires_grad_(False)
opt = torch.optim.AdamW(net.parameters(), lr=4e-3, weight_decay=1e-4)
cosine = torch.optim.lr_scheduler.CosineAnnealingLR(opt, STEPS)
reference = pinwheel(1000)
print(f"energy distance of a Gaussian: {energy_distance(torch.randn(1000, 2) * reference.std(), reference):.4f}, "
      f"of fresh data: {energy_distance(pinwheel(1000), reference):.4f}")

running = None
for step in range(1, STEPS + 1):
    x = pinwheel(BATCH)
    t = torch.randint(T, (BATCH,))
    eps = torch.randn_like(x)
    loss = (net(sched.noisy(x, eps, t), t) - sched.velocity(x, eps, t)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    cosine.step()
    with torch.no_grad():
        for p_avg, p in zip(ema.parameters(), net.parameters()):
            p_avg.lerp_(p, 1 - EMA_DECAY)
    running = loss.item() if running is None else 0.98 * running + 0.02 * loss.item()
    if step % 300 == 0:
        print(f"step {step:5d} loss {running:.4f} energy distance {energy_distance(ddim(ema, sched, 1000), reference):.4f}")
