"""GAN on a ring of Gaussians (the usual toy problem) with a fixed noise batch for monitoring."""
import math

import torch
import torch.nn as nn

LATENT = 8
BATCH = 128
ITERATIONS = 1000
MODES = 8

torch.manual_seed(9)


def sample_real(n):
    k = torch.randint(MODES, (n,))
    angle = 2 * math.pi * k / MODES
    centres = torch.stack([angle.cos(), angle.sin()], dim=1) * 2.0
    return centres + 0.05 * torch.randn(n, 2)


class Generator(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.main = nn.Sequential(
            nn.Linear(LATENT, hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.ReLU(),
            nn.Linear(hidden, 2),
        )

    def forward(self, z):
        return self.main(z)


class Discriminator(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.main = nn.Sequential(
            nn.Linear(2, hidden), nn.LeakyReLU(0.2),
            nn.Linear(hidden, hidden), nn.LeakyReLU(0.2),
            nn.Linear(hidden, 1),
        )

    def forward(self, x):
        return self.main(x)


def covered_modes(points):
    angle = 2 * math.pi * torch.arange(MODES) / MODES
    centres = torch.stack([angle.cos(), angle.sin()], dim=1) * 2.0
    near = torch.cdist(points, centres).min(dim=1)
    good = near.values < 0.3
    return len(near.indices[good].unique()), good.float().mean().item()


netG, netD = Generator(), Discriminator()
criterion = nn.BCEWithLogitsLoss()
optimizerD = torch.optim.Adam(netD.parameters(), lr=1e-3, betas=(0.5, 0.999))
optimizerG = torch.optim.Adam(netG.parameters(), lr=1e-3, betas=(0.5, 0.999))
fixed_noise = torch.randn(1000, LATENT)
ones, zeros = torch.ones(BATCH, 1), torch.zeros(BATCH, 1)

for it in range(ITERATIONS + 1):
    # discriminator: real up, fake down
    fake = netG(torch.randn(BATCH, LATENT)).detach()
    errD = criterion(netD(sample_real(BATCH)), ones) + criterion(netD(fake), zeros)
    optimizerD.zero_grad()
    errD.backward()
    optimizerD.step()

    # generator: make the fakes look real
    errG = criterion(netD(fake), ones)
    optimizerG.zero_grad()
    errG.backward()
    optimizerG.step()

    if it % 250 == 0:
        with torch.no_grad():
            modes, share = covered_modes(netG(fixed_noise))
        print(f"[{it}/{ITERATIONS}] Loss_D {errD.item():.4f} Loss_G {errG.item():.4f} modes {modes} on ring {share:.2f}")
