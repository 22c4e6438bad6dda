"""DDPM on two rings in the plane: noise prediction, linear schedule, ancestral sampling."""
import math

import torch
import torch.nn as nn

torch.manual_seed(64)

T = 60
betas = torch.linspace(1e-3, 0.15, T)
alphas = 1.0 - betas
alpha_bar = torch.cumprod(alphas, 0)


def rings(n):
    radius = torch.where(torch.rand(n) < 0.5, 0.8, 2.4)
    angle = torch.rand(n) * 2 * math.pi
    return torch.stack([radius * angle.cos(), radius * angle.sin()], 1) + 0.08 * torch.randn(n, 2)


class TimeEmbedding(nn.Module):
    def __init__(self, dim):
        super().__init__()
        half = dim // 2
        self.register_buffer("freq", torch.exp(-math.log(200.0) * torch.arange(half) / half))

    def forward(self, t):
        arg = t[:, None].float() * self.freq[None]
        return torch.cat([arg.sin(), arg.cos()], -1)


class NoisePredictor(nn.Module):
    def __init__(self, width=128, t_dim=32):
        super().__init__()
        self.time = nn.Sequential(TimeEmbedding(t_dim), nn.Linear(t_dim, width), nn.SiLU())
        self.inp = nn.Linear(2, width)
        self.mid = nn.ModuleList([nn.Linear(width, width) for _ in range(3)])
        self.out = nn.Sequential(nn.SiLU(), nn.Linear(width, 2), nn.Tanh())

    def forward(self, x, t):
        h = nn.functional.silu(self.inp(x) + self.time(t))
        for layer in self.mid:
            h = h + nn.functional.silu(layer(h))
        return self.out(h)


@torch.no_grad()
def sample(model, n):
    model.eval()
    x = torch.randn(n, 2)
    for t in reversed(range(T)):
        eps = model(x, torch.full((n,), t))
        x = (x - betas[t] / (1 - alpha_bar[t]).sqrt() * eps) / alphas[t].sqrt()
        if t > 0:
            x = x + betas[t].sqrt() * torch.randn_like(x)
    model.train()
    return x


def ring_error(x):
    """Mean distance of the samples to the nearer ring."""
    r = x.norm(dim=1)
    return torch.minimum((r - 0.8).abs(), (r - 2.4).abs()).mean().item()


model = NoisePredictor()
optimizer = torch.optim.Adam(model.parameters(), lr=6e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=1400, eta_min=1e-4)
print(f"ring error of real data {ring_error(rings(2000)):.3f}, of pure noise {ring_error(torch.randn(2000, 2)):.3f}")

running = 0.0
for step in range(1, 1401):
    x0 = rings(128)
    t = torch.randint(0, T, (len(x0),))
    noise = torch.randn_like(x0)
    ab = alpha_bar[t][:, None]
    xt = ab.sqrt() * x0 + (1 - ab).sqrt() * noise
    loss = nn.functional.mse_loss(model(xt, t), noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    running += loss.item()
    if step % 350 == 0:
        fake = sample(model, 500)
        spread = fake.norm(dim=1).std().item()
        print(f"step {step:4d} | loss {running / 350:.4f} | ring error {ring_error(fake):.3f} | radius std {spread:.3f}")
        running = 0.0
