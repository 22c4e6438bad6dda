"""Denoising diffusion of five-dimensional handwriting strokes (start, end, bend), predicted noise."""

import math

import torch
from torch import nn

torch.manual_seed(6)
STEPS = 60
BETAS = torch.linspace(1e-3, 0.15, STEPS)
ALPHA_BAR = torch.cumprod(1 - BETAS, dim=0)


def strokes(n):
    kind = torch.randint(0, 3, (n,))
    start = torch.randn(n, 2) * 0.1 + torch.tensor([[-1.0, 0.0], [0.0, 1.0], [1.0, -1.0]])[kind]
    end = start + torch.tensor([[2.0, 0.0], [0.0, -2.0], [-1.5, 1.5]])[kind] + 0.1 * torch.randn(n, 2)
    bend = torch.tensor([0.8, 0.0, -0.8])[kind].unsqueeze(1) + 0.05 * torch.randn(n, 1)
    return torch.cat([start, end, bend], dim=1)


class TimeEmbedding(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("freq", torch.exp(torch.linspace(0, math.log(100), width // 2)))

    def forward(self, t):
        angle = (t.float() / STEPS).unsqueeze(1) * self.freq
        return torch.cat([angle.sin(), angle.cos()], dim=1)


class Denoiser(nn.Module):
    def __init__(self, dims=5, hidden=128, time=32):
        super().__init__()
        self.time = TimeEmbedding(time)
        self.net = nn.Sequential(
            nn.Linear(dims + time, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, dims)
        )

    def forward(self, x, t):
        return self.net(torch.cat([x, self.time(t)], dim=1))


def diffuse(x0, t):
    noise = torch.randn_like(x0)
    a = ALPHA_BAR[t].unsqueeze(1)
    return a.sqrt() * x0 + (1 - a).sqrt() * noise, noise


@torch.no_grad()
def sample(model, n):
    x = torch.randn(n, 5)
    for t in reversed(range(STEPS)):
        eps = model(x, torch.full((n,), t))
        x = (x - BETAS[t] / (1 - ALPHA_BAR[t]).sqrt() * eps) / (1 - BETAS[t]).sqrt()
        if t:
            x += BETAS[t].sqrt() * torch.randn_like(x)
    return x


def training_loss(model, x0):
    t = torch.randint(0, STEPS, (len(x0),))
    noisy, _ = diffuse(x0, t)
    _, noise = diffuse(x0, t)
    return nn.functional.mse_loss(model(noisy, t), noise)


model = Denoiser()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
for step in range(1, 1501):
    loss = training_loss(model, strokes(128))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 300 == 0:
        print(f"step {step} loss {loss.item():.4f}")

real, made = strokes(800), sample(model, 800)
gap = 2 * torch.cdist(real, made).mean() - torch.cdist(real, real).mean() - torch.cdist(made, made).mean()
print(f"energy distance of samples {gap.item():.4f}")
