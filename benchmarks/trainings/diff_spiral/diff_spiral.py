"""Denoising diffusion on a two-dimensional spiral."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

T = 60
BATCH = 256
STEPS = 900


def spiral(n):
    u = torch.rand(n).sqrt() * 3 * math.pi
    return torch.stack([u * u.cos(), u * u.sin()], dim=1) / 5 + 0.02 * torch.randn(n, 2)


class NoiseSchedule:
    def __init__(self, steps, beta_start=1e-3, beta_end=0.12):
        self.betas = torch.linspace(beta_start, beta_end, steps)
        self.alphas = 1 - self.betas
        self.alphas_bar = torch.cumprod(self.alphas, dim=0)

    def add_noise(self, x0, t):
        a = self.alphas_bar[t].unsqueeze(1)
        return a.sqrt() * x0 + (1 - a).sqrt() * torch.randn_like(x0)


class Denoiser(nn.Module):
    def __init__(self, hidden=96):
        super().__init__()
        self.time = nn.Embedding(T, hidden)
        self.inp = nn.Linear(2, hidden)
        self.mid = nn.ModuleList([nn.Linear(hidden, hidden) for _ in range(2)])
        self.out = nn.Linear(hidden, 2)

    def forward(self, x, t):
        h = self.inp(x) + self.time(t)
        for layer in self.mid:
            h = h + F.silu(layer(F.silu(h)))
        return self.out(h)


@torch.no_grad()
def sample(model, schedule, n):
    model.eval()
    x = torch.randn(n, 2)
    for i in reversed(range(T)):
        t = torch.full((n,), i)
        eps = model(x, t)
        a, ab, b = schedule.alphas[i], schedule.alphas_bar[i], schedule.betas[i]
        x = (x - b / (1 - ab).sqrt() * eps) / a.sqrt()
        if i:
            x = x + b.sqrt() * torch.randn_like(x)
    model.train()
    return x


def chamfer(a, b):
    d = torch.cdist(a, b)
    return (d.min(1).values.mean() + d.min(0).values.mean()).item() / 2


def main():
    torch.manual_seed(18)
    schedule = NoiseSchedule(T)
    model = Denoiser()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    reference = spiral(1000)
    running = None
    for step in range(1, STEPS + 1):
        x0 = spiral(BATCH)
        t = torch.randint(T, (BATCH,))
        noise = torch.randn_like(x0)
        x_t = schedule.add_noise(x0, t)
        loss = F.mse_loss(model(x_t, t), noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        running = loss.item() if running is None else 0.98 * running + 0.02 * loss.item()
        if step % 300 == 0:
            print(f"step {step} loss {running:.4f} chamfer {chamfer(sample(model, schedule, 1000), reference):.4f}")
    print(f"two draws of the data differ by {chamfer(spiral(1000), reference):.4f}")


if __name__ == "__main__":
    main()
