"""Wasserstein GAN for short absorption spectra (one or two bumps on 24 channels)."""
import argparse

import numpy as np
import torch
from torch import nn

CHANNELS = 24


def make_spectra(n, rng):
    axis = np.linspace(0, 1, CHANNELS)
    centre = rng.uniform(0.2, 0.8, size=(n, 1))
    width = rng.uniform(0.05, 0.12, size=(n, 1))
    height = rng.uniform(0.5, 1.0, size=(n, 1))
    return (height * np.exp(-((axis - centre) ** 2) / (2 * width**2))).astype("float32")


class SpectrumGenerator(nn.Module):
    def __init__(self, latent):
        super().__init__()
        self.latent = latent
        self.layers = nn.Sequential(
            nn.Linear(latent, 64), nn.ReLU(),
            nn.Linear(64, 64), nn.ReLU(),
            nn.Linear(64, CHANNELS), nn.Sigmoid(),
        )

    def forward(self, n):
        return self.layers(torch.randn(n, self.latent))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(CHANNELS, 64), nn.LeakyReLU(0.2),
            nn.Linear(64, 64), nn.LeakyReLU(0.2),
            nn.Linear(64, 1),
        )

    def forward(self, x):
        return self.layers(x).squeeze(-1)


@torch.no_grad()
def sliced_distance(a, b, gen):
    directions = torch.randn(CHANNELS, 128, generator=gen)
    directions = directions / directions.norm(dim=0)
    pa, pb = (a @ directions).sort(dim=0).values, (b @ directions).sort(dim=0).values
    return (pa - pb).abs().mean().item()


def main(args):
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    spectra = torch.from_numpy(make_spectra(6000, rng))
    reference = torch.from_numpy(make_spectra(2000, rng))
    probe = torch.Generator().manual_seed(1)

    gen, critic = SpectrumGenerator(args.latent), Critic()
    g_opt = torch.optim.RMSprop(gen.parameters(), lr=args.lr)
    c_opt = torch.optim.RMSprop(critic.parameters(), lr=args.lr)

    for step in range(1, args.steps + 1):
        for _ in range(args.n_critic):
            real = spectra[torch.randint(0, len(spectra), (args.batch,))]
            fake = gen(args.batch).detach()
            c_loss = critic(fake).mean() - critic(real).mean()
            c_opt.zero_grad()
            c_loss.backward()
            c_opt.step()

        g_loss = -critic(gen(args.batch)).mean()
        g_opt.zero_grad()
        g_loss.backward()
        g_opt.step()

        if step % args.log_every == 0:
            with torch.no_grad():
                samples = gen(2000)
            swd = sliced_distance(samples, reference, probe)
            print(f"[{step:4d}] critic {c_loss.item():.4f} generator {g_loss.item():.4f} sliced-W {swd:.4f}", flush=True)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=1200)
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--latent", type=int, default=6)
    p.add_argument("--n-critic", type=int, default=4)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--log-every", type=int, default=150)
    p.add_argument("--seed", type=int, default=31)
    main(p.parse_args())
