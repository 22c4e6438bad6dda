"""DDPM on a two-dimensional spiral. Samples come from the averaged copy of the network."""
import copy
import math

import torch
import torch.nn as nn

torch.manual_seed(2024)

T = 60
STEPS = 2500
BATCH = 256
EMA_DECAY = 0.9999


def spiral(n):
    t = torch.rand(n).sqrt() * 3 * math.pi
    x = torch.stack([t * t.cos(), t * t.sin()], dim=1) / 5.0
    return x + 0.02 * torch.randn(n, 2)


class TimeEmbedding(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.register_buffer("freqs", torch.exp(torch.linspace(0, math.log(200), dim // 2)))

    def forward(self, t):
        angles = (t.float() / T)[:, None] * self.freqs
        return torch.cat([angles.sin(), angles.cos()], dim=1)


class Denoiser(nn.Module):
    def __init__(self, hidden=128):
        super().__init__()
        self.time = TimeEmbedding()
        self.net = nn.Sequential(
            nn.Linear(2 + 32, hidden), nn.SiLU(),
            nn.Linear(hidden, hidden), nn.SiLU(),
            nn.Linear(hidden, hidden), nn.SiLU(),
            nn.Linear(hidden, 2),
        )

    def forward(self, x, t):
        return self.net(torch.cat([x, self.time(t)], dim=1))


class Diffusion:
    def __init__(self):
        self.betas = torch.linspace(1e-4, 0.1, T)
        self.alphas = 1.0 - self.betas
        self.alpha_bar = torch.cumprod(self.alphas, 0)

    def noisy(self, x0, t, eps):
        ab = self.alpha_bar[t][:, None]
        return ab.sqrt() * x0 + (1 - ab).sqrt() * eps

    @torch.no_grad()
    def sample(self, net, n):
        x = torch.randn(n, 2)
        for i in reversed(range(T)):
            t = torch.full((n,), i)
            eps = net(x, t)
            coef = self.betas[i] / (1 - self.alpha_bar[i]).sqrt()
            x = (x - coef * eps) / self.alphas[i].sqrt()
            if i > 0:
                x = x + self.betas[i].sqrt() * torch.randn_like(x)
        return x


@torch.no_grad()
def update_ema(ema, model, decay):
    for pe, p in zip(ema.parameters(), model.parameters()):
        pe.lerp_(p, 1 - decay)


def chamfer(a, b):
    d = torch.cdist(a, b)
    return (d.min(1).values.mean() + d.min(0).values.mean()).item()


def main():
    diff = Diffusion()
    model = Denoiser()
    ema = copy.deepcopy(model).requires_grad_(False)
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    reference = spiral(1000)
    running = 0.0
    for step in range(1, STEPS + 1):
        x0 = spiral(BATCH)
        t = torch.randint(0, T, (BATCH,))
        eps = torch.randn_like(x0)
        loss = ((model(diff.noisy(x0, t, eps), t) - eps) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        update_ema(ema, model, EMA_DECAY)
        running += loss.item()
        if step % 500 == 0:
            dist = chamfer(diff.sample(ema, 1000), reference)
            print(f"step {step:5d}  loss {running / 500:.4f}  chamfer distance of samples {dist:.4f}")
            running = 0.0
    print(f"final chamfer {chamfer(diff.sample(ema, 1000), reference):.4f}")


if __name__ == "__main__":
    main()
