"""A small GAN that draws one period of a heartbeat-like wave."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(4)
POINTS, LATENT, BATCH, STEPS = 32, 8, 64, 900


def real_waves(n):
    """A sharp spike at a random place and height, over a slow bump."""
    t = torch.linspace(0, 1, POINTS)
    place = 0.3 + 0.2 * torch.rand(n, 1)
    height = 0.7 + 0.3 * torch.rand(n, 1)
    spike = height * torch.exp(-(((t - place) / 0.05) ** 2))
    bump = 0.3 * torch.exp(-(((t - place - 0.35) / 0.12) ** 2))
    return spike + bump


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(LATENT, 64), nn.LeakyReLU(0.2), nn.Linear(64, 128), nn.LeakyReLU(0.2), nn.Linear(128, POINTS)
        )

    def forward(self, z):
        return self.net(z)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(POINTS, 128), nn.LeakyReLU(0.2), nn.Linear(128, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1)
        )

    def forward(self, x):
        return self.net(x)


gen, disc = Generator(), Discriminator()
opt_g = torch.optim.Adam(gen.parameters(), lr=5e-4, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(disc.parameters(), lr=5e-4, betas=(0.5, 0.999))
bce = F.binary_cross_entropy_with_logits


def distance(n=1000):
    """Of mean and spread, point by point, between real and made waves."""
    with torch.no_grad():
        real, fake = real_waves(n), gen(torch.randn(n, LATENT))
    return (real.mean(0) - fake.mean(0)).abs().mean().item() + (real.std(0) - fake.std(0)).abs().mean().item()


print(f"distance before {distance():.3f}")
for step in range(1, STEPS + 1):
    real = real_waves(BATCH)
    fake = gen(torch.randn(BATCH, LATENT)).detach()

    opt_d.zero_grad()
    d_loss = bce(disc(real), torch.ones(BATCH, 1)) + bce(disc(fake), torch.zeros(BATCH, 1))
    d_loss.backward()
    opt_d.step()

    opt_g.zero_grad()
    g_loss = bce(disc(fake), torch.ones(BATCH, 1))
    g_loss.backward()
    opt_g.step()

    if step % 150 == 0:
        print(f"step {step} D {d_loss.item():.3f} G {g_loss.item():.3f} distance {distance():.3f}")
