"""Denoising diffusion for the two moons, with an EMA of the weights."""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import make_moons

STEPS = 50


def make_schedule(steps, start=1e-4, end=0.15):
    betas = torch.linspace(start, end, steps)
    alphas = 1.0 - betas
    return betas, alphas, torch.cumprod(alphas, 0)


BETAS, ALPHAS, ABAR = make_schedule(STEPS)


class EpsNet(nn.Module):
    def __init__(self, hidden=96):
        super().__init__()
        self.t_embed = nn.Embedding(STEPS, hidden)
        self.inp = nn.Linear(2, hidden)
        self.mid = nn.ModuleList([nn.Linear(hidden, hidden) for _ in range(2)])
        self.out = nn.Linear(hidden, 2)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, x, t):
        h = self.inp(x) + self.t_embed(t)
        for layer in self.mid:
            h = h + layer(F.silu(h))
        return self.out(F.silu(h))


def diffusion_loss(net, x0):
    t = torch.randint(0, STEPS, (len(x0),))
    noise = torch.randn_like(x0)
    a = ABAR[t][:, None]
    x_t = a.sqrt() * x0 + (1 - a).sqrt() * noise
    return F.mse_loss(net(x_t, t), noise)


@torch.no_grad()
def sample(net, n):
    x = torch.randn(n, 2)
    for i in reversed(range(STEPS)):
        eps = net(x, torch.full((n,), i))
        x = (x - BETAS[i] / (1 - ABAR[i]).sqrt() * eps) / ALPHAS[i].sqrt()
        if i > 0:
            x = x + BETAS[i].sqrt() * torch.randn_like(x)
    return x


@torch.no_grad()
def ema_update(ema, net, decay=0.99):
    for e, p in zip(ema.parameters(), net.parameters()):
        e.mul_(decay).add_(p, alpha=1 - decay)


def main():
    torch.manual_seed(12)
    points, _ = make_moons(2000, noise=0.05, random_state=12)
    data = torch.tensor(points, dtype=torch.float32)
    data = (data - data.mean(0)) / data.std(0)
    net = EpsNet()
    ema = copy.deepcopy(net).requires_grad_(False)
    optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=0.0)
    for epoch in range(1, 26):
        total = 0.0
        for idx in torch.randperm(len(data)).split(128):
            loss = diffusion_loss(net, data[idx])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            ema_update(ema, net)
            total += loss.item() * len(idx)
        if epoch % 5 == 0:
            gap = torch.cdist(sample(ema, 300), data).min(1).values.mean().item()
            print(f"epoch {epoch}: loss {total / len(data):.4f} sample distance {gap:.4f}")


if __name__ == "__main__":
    main()
