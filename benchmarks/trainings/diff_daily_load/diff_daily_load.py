"""Diffusion model of daily load curves (24 values) with a small residual net; samples compared hour by hour."""

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


def load_curves(n):
    hour = torch.arange(24).float()
    morning = 0.6 + 0.2 * torch.randn(n, 1)
    evening = 1.0 + 0.2 * torch.randn(n, 1)
    curve = morning * torch.exp(-((hour - 8) ** 2) / 6) + evening * torch.exp(-((hour - 19) ** 2) / 8)
    curve = curve + 0.05 * torch.randn(n, 24)
    return (curve - 0.35) / 0.4


class ResidualBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.lin1 = nn.Linear(width, 2 * width)
        self.lin2 = nn.Linear(2 * width, width)

    def forward(self, x, emb):
        return x + self.lin2(F.gelu(self.lin1(self.norm(x + emb))))


class CurveNet(nn.Module):
    def __init__(self, steps, width=96, blocks=3):
        super().__init__()
        self.inp = nn.Linear(24, width)
        self.emb = nn.Embedding(steps, width)
        self.blocks = nn.ModuleList(ResidualBlock(width) for _ in range(blocks))
        self.out = nn.Linear(width, 24)

    def forward(self, x, t):
        emb = self.emb(t)
        h = self.inp(x)
        for block in self.blocks:
            h = block(h, emb)
        return self.out(h)


class Diffusion:
    def __init__(self, steps):
        self.steps = steps
        s = torch.arange(steps + 1) / steps
        bar = torch.cos((s + 0.01) / 1.01 * torch.pi / 2) ** 2
        self.beta = (1 - bar[1:] / bar[:-1]).clamp(max=0.5)
        self.bar = torch.cumprod(1 - self.beta, 0)

    def loss(self, net, x0):
        t = torch.randint(0, self.steps, (x0.shape[0],))
        eps = torch.randn_like(x0)
        bar = self.bar[t][:, None]
        return F.mse_loss(net(bar.sqrt() * x0 + (1 - bar).sqrt() * eps, t), eps)

    @torch.no_grad()
    def sample(self, net, n):
        x = torch.randn(n, 24)
        for i in range(self.steps - 1, -1, -1):
            eps = net(x, torch.full((n,), i, dtype=torch.long))
            x = (x - self.beta[i] / (1 - self.bar[i]).sqrt() * eps) / (1 - self.beta[i]).sqrt()
            if i > 0:
                x = x + self.beta[i].sqrt() * torch.randn_like(x)
        return x


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=40)
    p.add_argument("--iterations", type=int, default=900)
    p.add_argument("--lr", type=float, default=0.3)
    args = p.parse_args()
    torch.manual_seed(77)
    net, diffusion = CurveNet(args.steps), Diffusion(args.steps)
    optimizer = torch.optim.Adam(net.parameters(), lr=args.lr)
    for i in range(args.iterations):
        loss = diffusion.loss(net, load_curves(64))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (i + 1) % 150 == 0:
            print(f"iteration {i + 1} loss {loss.item():.4f}")
    real, made = load_curves(1000), diffusion.sample(net, 500)
    print(f"hourly mean off by {(real.mean(0) - made.mean(0)).abs().mean().item():.3f}")


if __name__ == "__main__":
    main()
