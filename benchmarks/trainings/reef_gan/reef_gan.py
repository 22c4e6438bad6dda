"""GAN for fish positions around a ring-shaped reef (2-d points on eight clusters)."""
import math

import torch
import torch.nn as nn

LATENT = 8
N_CLUSTERS = 8


def real_batch(n):
    k = torch.randint(N_CLUSTERS, (n,))
    ang = 2 * math.pi * k / N_CLUSTERS
    return torch.stack([torch.cos(ang), torch.sin(ang)], 1) * 1.5 + 0.12 * torch.randn(n, 2)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(LATENT, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 2))

    def forward(self, z):
        return self.main(z)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))

    def forward(self, x):
        return self.main(x).squeeze(1)


def energy_distance(a, b):
    return (2 * torch.cdist(a, b).mean() - torch.cdist(a, a).mean() - torch.cdist(b, b).mean()).item()


def main():
    torch.manual_seed(5)
    G, D = Generator(), Discriminator()
    opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.99))
    opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.99))
    bce = nn.BCEWithLogitsLoss()
    n = 128
    ones, zeros = torch.ones(n), torch.zeros(n)
    fixed = torch.randn(1000, LATENT)
    reference = real_batch(1000)

    for step in range(1, 1501):
        # discriminator
        x = real_batch(n)
        fake = G(torch.randn(n, LATENT)).detach()
        loss_d = bce(D(x), ones) + bce(D(fake), zeros)
        opt_d.zero_grad()
        loss_d.backward()
        opt_d.step()

        # generator
        opt_g.zero_grad()
        loss_g = bce(D(fake), ones)
        loss_g.backward()
        opt_g.step()

        if step % 300 == 0:
            with torch.no_grad():
                sample = G(fixed)
            print(f"step {step} D {loss_d.item():.3f} G {loss_g.item():.3f} energy distance {energy_distance(sample, reference):.4f}")
    print(f"a normal cloud of the same spread: {energy_distance(torch.randn(1000, 2) * reference.std(0), reference):.4f}")


if __name__ == "__main__":
    main()
