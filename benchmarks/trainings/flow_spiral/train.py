"""Rectified-flow generator for a spiral: velocity regression, EMA weights for sampling, Euler integration."""
import copy
import math

import torch
from torch import nn

torch.manual_seed(44)


def spiral(n):
    u = torch.rand(n).sqrt() * 3 * math.pi
    pts = torch.stack([u * torch.cos(u), u * torch.sin(u)], 1) / 5.0
    return pts + 0.05 * torch.randn(n, 2)


class Velocity(nn.Module):
    def __init__(self, width=96, freqs=6):
        super().__init__()
        self.register_buffer("w", 2.0 ** torch.arange(freqs) * math.pi / 2)
        self.net = nn.Sequential(
            nn.Linear(2 + 2 * freqs, width), nn.SiLU(),
            nn.Linear(width, width), nn.SiLU(),
            nn.Linear(width, width), nn.SiLU(),
            nn.Linear(width, 2),
        )

    def forward(self, x, t):
        phase = t[:, None] * self.w
        return self.net(torch.cat([x, phase.sin(), phase.cos()], 1))


@torch.no_grad()
def sample(model, n, steps=40):
    x = torch.randn(n, 2)
    for i in range(steps):
        t = torch.full((n,), (i + 0.5) / steps)
        x = x + model(x, t) / steps
    return x


def sliced_w2(a, b, n_dirs=64):
    d = torch.randn(2, n_dirs, generator=torch.Generator().manual_seed(0))
    d = d / d.norm(dim=0)
    return ((a @ d).sort(0).values - (b @ d).sort(0).values).pow(2).mean().sqrt().item()


model = Velocity()
ema = copy.deepcopy(model).eval().requires_grad_(False)
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 100) * (1 - s / 1900))
reference = spiral(1000)
print(f"noise vs data  sliced W2 {sliced_w2(torch.randn(1000, 2), reference):.3f}")
print(f"data vs data   sliced W2 {sliced_w2(spiral(1000), reference):.3f}")

avg = None
for step in range(1, 1801):
    x1 = spiral(256)
    x0 = torch.randn_like(x1)
    t = torch.sigmoid(torch.randn(len(x1)))  # logit-normal times, more weight to the middle
    xt = (1 - t[:, None]) * x0 + t[:, None] * x1
    loss = (model(xt, t) - (x1 - x0)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    decay = min(0.995, (1 + step) / (10 + step))
    with torch.no_grad():
        for pe, p in zip(ema.parameters(), model.parameters()):
            pe.mul_(decay).add_(p, alpha=1 - decay)
    avg = loss.item() if avg is None else 0.98 * avg + 0.02 * loss.item()
    if step % 300 == 0:
        print(f"step {step:4d}  loss {avg:.4f}  sliced W2 of EMA samples {sliced_w2(sample(ema, 1000), reference):.3f}")
