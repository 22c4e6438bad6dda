import math

import torch
from torch import nn


class GaussianVAE(nn.Module):
    """Decoder with one learnt noise level per output, so that the negative log-likelihood may fall below zero."""

    def __init__(self, d_in, d_z=4, width=64):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(d_in, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 2 * d_z))
        self.decoder = nn.Sequential(nn.Linear(d_z, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, d_in))
        self.log_sigma = nn.Parameter(torch.zeros(d_in))

    def posterior(self, x):
        mean, raw = self.encoder(x).chunk(2, dim=-1)
        return torch.distributions.Normal(mean, nn.functional.softplus(raw) + 1e-3)

    def nll(self, x, z):
        s = self.log_sigma.clamp(-5, 2)
        return (0.5 * ((x - self.decoder(z)) / s.exp()) ** 2 + s + 0.5 * math.log(2 * math.pi)).sum(-1)

    def kl_per_dim(self, q):
        prior = torch.distributions.Normal(torch.zeros_like(q.loc), torch.ones_like(q.scale))
        return torch.distributions.kl_divergence(q, prior)
