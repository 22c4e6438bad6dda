"""GAN on a ring of eight Gaussians."""

import math

import torch
import torch.nn as nn

Z_DIM = 8
BATCH = 128
STEPS = 800


def real_batch(n):
    k = torch.randint(0, 8, (n,))
    angle = k * (2 * math.pi / 8)
    centers = torch.stack([angle.cos(), angle.sin()], dim=1) * 2
    return centers + 0.1 * torch.randn(n, 2)


class Generator(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.main = nn.Sequential(
            nn.Linear(Z_DIM, hidden), nn.ReLU(),
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


def coverage(generator, n=1000):
    with torch.no_grad():
        fake = generator(torch.randn(n, Z_DIM))
    angle = torch.arange(8) * (2 * math.pi / 8)
    centers = torch.stack([angle.cos(), angle.sin()], dim=1) * 2
    dist, nearest = torch.cdist(fake, centers).min(dim=1)
    close = dist < 0.4
    return close.float().mean().item(), nearest[close].unique().numel()


def main():
    torch.manual_seed(31)
    netG, netD = Generator(), Discriminator()
    optG = torch.optim.Adam(netG.parameters(), lr=1e-3, betas=(0.5, 0.999))
    optD = torch.optim.Adam(netD.parameters(), lr=1e-3, betas=(0.5, 0.999))
    bce = nn.BCEWithLogitsLoss()
    ones, zeros = torch.ones(BATCH, 1), torch.zeros(BATCH, 1)

    for step in range(1, STEPS + 1):
        real = real_batch(BATCH)
        fake = netG(torch.randn(BATCH, Z_DIM)).detach()

        optD.zero_grad()
        d_loss = bce(netD(real), ones) + bce(netD(fake), zeros)
        d_loss.backward()
        optD.step()

        optG.zero_grad()
        g_loss = bce(netD(fake), ones)
        g_loss.backward()
        optG.step()

        if step % 200 == 0:
            share, modes = coverage(netG)
            print(f"step {step}: D {d_loss.item():.3f} G {g_loss.item():.3f} near a mode {share:.2f} modes {modes}/8")


if __name__ == "__main__":
    main()
