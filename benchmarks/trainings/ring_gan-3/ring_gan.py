"""GAN on a ring of eight Gaussians, with mode coverage measured while training."""
import math

import torch
import torch.nn as nn
from torch.nn.functional import binary_cross_entropy_with_logits as bce

torch.manual_seed(99)

N_MODES = 8
LATENT = 8
BATCH = 128
STEPS = 3000
RADIUS = 2.0
STD = 0.08

angles = torch.arange(N_MODES) * (2 * math.pi / N_MODES)
CENTRES = RADIUS * torch.stack([angles.cos(), angles.sin()], dim=1)


def real_batch(n):
    pick = torch.randint(0, N_MODES, (n,))
    return CENTRES[pick] + STD * torch.randn(n, 2)


class Generator(nn.Module):
    def __init__(self, hidden=96):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(LATENT, hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.ReLU(),
            nn.Linear(hidden, 2),
        )

    def forward(self, z):
        return self.net(z)


class Discriminator(nn.Module):
    def __init__(self, hidden=96):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, hidden), nn.LeakyReLU(0.2),
            nn.Linear(hidden, hidden), nn.LeakyReLU(0.2),
            nn.Linear(hidden, 1),
        )

    def forward(self, x):
        return self.net(x).squeeze(1)


@torch.no_grad()
def coverage(gen, n=2000):
    """Share of samples near a mode, and how many modes receive at least 2 % of them."""
    x = gen(torch.randn(n, LATENT))
    dist, nearest = torch.cdist(x, CENTRES).min(dim=1)
    good = dist < 0.4
    counts = torch.bincount(nearest[good], minlength=N_MODES)
    return good.float().mean().item(), int((counts > 0.02 * n).sum())


def main():
    gen, disc = Generator(), Discriminator()
    opt_g = torch.optim.Adam(gen.parameters(), lr=5e-4, betas=(0.5, 0.9))
    opt_d = torch.optim.Adam(disc.parameters(), lr=5e-4, betas=(0.5, 0.9))
    ones, zeros = torch.ones(BATCH), torch.zeros(BATCH)

    for step in range(1, STEPS + 1):
        # discriminator
        real = real_batch(BATCH)
        fake = gen(torch.randn(BATCH, LATENT)).detach()
        d_loss = bce(disc(real), 0.9 * ones) + bce(disc(fake), zeros)
        opt_d.zero_grad()
        d_loss.backward()
        opt_d.step()

        # generator
        fake = gen(torch.randn(BATCH, LATENT)).detach()
        g_loss = bce(disc(fake), ones)
        opt_g.zero_grad()
        g_loss.backward()
        opt_g.step()

        if step % 500 == 0:
            quality, modes = coverage(gen)
            print(f"step {step:5d}  d_loss {d_loss.item():.3f}  g_loss {g_loss.item():.3f}  "
                  f"near a mode {quality:.3f}  modes {modes}/{N_MODES}")

    quality, modes = coverage(gen, 5000)
    print(f"done: {quality:.3f} of the samples near a mode, {modes} modes covered")


if __name__ == "__main__":
    main()
