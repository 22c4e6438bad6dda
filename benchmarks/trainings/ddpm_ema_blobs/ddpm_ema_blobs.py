"""DDPM of five Gaussian blobs on a circle: output layer starts at zero, samples come from an EMA copy."""

import copy
import math

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(51)
T = 50
beta = torch.linspace(1e-3, 0.18, T)
bar = torch.cumprod(1 - beta, 0)


def blobs(n):
    angle = torch.randint(0, 5, (n,)) * (2 * math.pi / 5)
    return 1.5 * torch.stack([angle.cos(), angle.sin()], dim=1) + 0.08 * torch.randn(n, 2)


class Net(nn.Module):
    def __init__(self, hidden=128):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(16, hidden), nn.SiLU())
        self.inp = nn.Linear(2, hidden)
        self.mid = nn.ModuleList(nn.Linear(hidden, hidden) for _ in range(3))
        self.out = nn.Linear(hidden, 2)
        nn.init.zeros_(self.out.weight)  # predicts "no noise" at first; the loss starts at 1
        nn.init.zeros_(self.out.bias)

    def forward(self, x, t):
        k = torch.arange(8)
        angle = (t / T).unsqueeze(1) * (2.0**k)
        emb = self.time(torch.cat([angle.sin(), angle.cos()], dim=1))
        h = self.inp(x)
        for layer in self.mid:
            h = h + F.silu(layer(h + emb))
        return self.out(h)


net = Net()
ema = copy.deepcopy(net).requires_grad_(False)
optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=0.0)
warm_up = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / 100))


@torch.no_grad()
def sample(model, n=1000):
    x = torch.randn(n, 2)
    for i in reversed(range(T)):
        eps = model(x, torch.full((n,), float(i)))
        x = (x - beta[i] / (1 - bar[i]).sqrt() * eps) / (1 - beta[i]).sqrt()
        x += beta[i].sqrt() * torch.randn_like(x) if i else 0.0
    return x


def near_a_blob(x):
    angle = torch.arange(5) * (2 * math.pi / 5)
    centres = 1.5 * torch.stack([angle.cos(), angle.sin()], dim=1)
    distance, which = torch.cdist(x, centres).min(1)
    return (distance < 0.4).float().mean().item(), which.bincount(minlength=5).min().item()


for step in range(1, 1501):
    x0 = blobs(128)
    t = torch.randint(0, T, (128,))
    noise = torch.randn_like(x0)
    a = bar[t].unsqueeze(1)
    loss = F.mse_loss(net(a.sqrt() * x0 + (1 - a).sqrt() * noise, t.float()), noise)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    warm_up.step()
    with torch.no_grad():
        for slow, fast in zip(ema.parameters(), net.parameters()):
            slow.mul_(0.99).add_(fast, alpha=0.01)
    if step % 300 == 0:
        # The loss has a floor of about 0.2: noise that lies within a blob cannot be known.
        print(f"step {step} loss {loss.item():.3f} share near a blob and rarest blob {near_a_blob(sample(ema))}")
