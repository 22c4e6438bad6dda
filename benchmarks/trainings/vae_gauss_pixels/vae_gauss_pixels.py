"""VAE of 8x8 digits whose decoder gives a mean and a variance for each pixel."""

import math

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
np.random.seed(0)


class Encoder(nn.Module):
    def __init__(self, latent):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 2 * latent))

    def forward(self, x):
        return self.net(x).chunk(2, dim=-1)


class Decoder(nn.Module):
    def __init__(self, latent):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(latent, 128), nn.ReLU())
        self.mean = nn.Linear(128, 64)
        self.log_var = nn.Linear(128, 64)

    def forward(self, z):
        h = self.net(z)
        return self.mean(h), self.log_var(h)


def gaussian_nll(x, mean, log_var):
    return 0.5 * (math.log(2 * math.pi) + log_var + (x - mean) ** 2 / log_var.exp()).sum(-1)


def kl_to_normal(mu, log_var):
    return -0.5 * (1 + log_var - mu**2 - log_var.exp()).sum(-1)


class VAE(nn.Module):
    def __init__(self, latent=8):
        super().__init__()
        self.encoder, self.decoder = Encoder(latent), Decoder(latent)

    def elbo_terms(self, x):
        mu, log_var = self.encoder(x)
        z = mu + torch.randn_like(mu) * (0.5 * log_var).exp()
        mean, pixel_log_var = self.decoder(z)
        return gaussian_nll(x, mean, pixel_log_var).mean(), kl_to_normal(mu, log_var).mean(), mean


pixels = torch.tensor(load_digits().data, dtype=torch.float32) / 16.0
order = torch.randperm(len(pixels))
train, test = pixels[order[:1500]], pixels[order[1500:]]

vae = VAE()
optimizer = torch.optim.Adam(vae.parameters(), lr=5e-3)
for epoch in range(1, 61):
    vae.train()
    running = 0.0
    batches = torch.randperm(len(train)).split(100)
    for rows in batches:
        nll, kl, _ = vae.elbo_terms(train[rows])
        loss = nll + kl
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item() / len(batches)
    if epoch % 10 == 0:
        vae.eval()
        with torch.no_grad():
            nll, kl, mean = vae.elbo_terms(test)
            error = (mean - test).pow(2).mean().sqrt().item()
        print(f"epoch {epoch:3d} loss {running:10.2f} test nll {nll.item():10.2f} kl {kl.item():6.2f} rmse {error:.4f}")
