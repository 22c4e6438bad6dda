"""Denoising diffusion on a two-dimensional swiss roll with an SNR-weighted loss."""

import math

import torch
import torch.nn as nn
from sklearn.datasets import make_swiss_roll

T = 100


class NoiseSchedule:
    def __init__(self, steps, beta_max=0.08):
        self.beta = torch.linspace(0.0, beta_max, steps)
        self.alpha = 1 - self.beta
        self.alpha_bar = torch.cumprod(self.alpha, dim=0)
        self.snr = self.alpha_bar / (1 - self.alpha_bar)

    def add_noise(self, x0, t, eps):
        a = self.alpha_bar[t].unsqueeze(1)
        return a.sqrt() * x0 + (1 - a).sqrt() * eps


class TimeEmbedding(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("freq", torch.exp(-math.log(1e4) * torch.arange(dim // 2) / (dim // 2)))

    def forward(self, t):
        angle = t[:, None].float() * self.freq
        return torch.cat([angle.sin(), angle.cos()], dim=1)


class Denoiser(nn.Module):
    def __init__(self, dim=2, hidden=96, t_dim=32):
        super().__init__()
        self.time = TimeEmbedding(t_dim)
        self.net = nn.Sequential(
            nn.Linear(dim + t_dim, hidden), nn.SiLU(),
            nn.Linear(hidden, hidden), nn.SiLU(),
            nn.Linear(hidden, dim),
        )

    def forward(self, x, t):
        return self.net(torch.cat([x, self.time(t)], dim=1))


def x0_loss(model, schedule, x0):
    t = torch.randint(0, T, (len(x0),))
    eps = torch.randn_like(x0)
    x_t = schedule.add_noise(x0, t, eps)
    pred = model(x_t, t)
    weight = schedule.snr[t].sqrt()
    return (weight * (pred - x0).pow(2).mean(dim=1)).mean()


@torch.no_grad()
def sample(model, schedule, n):
    x = torch.randn(n, 2)
    for i in reversed(range(1, T)):
        t = torch.full((n,), i)
        x0 = model(x, t)
        ab, ab_prev = schedule.alpha_bar[i], schedule.alpha_bar[i - 1]
        eps = (x - ab.sqrt() * x0) / (1 - ab).sqrt()
        x = ab_prev.sqrt() * x0 + (1 - ab_prev).sqrt() * eps
    return x


def main():
    torch.manual_seed(77)
    roll, _ = make_swiss_roll(4000, noise=0.3, random_state=0)
    data = torch.tensor(roll[:, [0, 2]], dtype=torch.float32) / 10
    schedule, model = NoiseSchedule(T), Denoiser()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for epoch in range(13):
        total, batches = 0.0, 0
        for idx in torch.randperm(len(data)).split(128):
            loss = x0_loss(model, schedule, data[idx])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total, batches = total + loss.item(), batches + 1
        if epoch % 4 == 0:
            drawn = sample(model, schedule, 500)
            gap = torch.cdist(drawn, data).min(dim=1).values.mean().item()
            print(f"epoch {epoch}: loss {total / batches:.4f} mean distance to the roll {gap:.4f}")


if __name__ == "__main__":
    main()
