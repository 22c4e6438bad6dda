import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, z):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(64, 96), nn.SiLU(), nn.Linear(96, 2 * z))

    def forward(self, x):
        mu, rho = self.f(x).chunk(2, -1)
        return torch.distributions.Normal(mu, nn.functional.softplus(rho) + 1e-3)


class Decoder(nn.Module):
    """Gaussian pixels with one learned spread; returns a distribution."""

    def __init__(self, z):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(z, 96), nn.SiLU(), nn.Linear(96, 64))
        self.log_sd = nn.Parameter(torch.tensor(-1.0))

    def forward(self, z):
        return torch.distributions.Normal(self.f(z), self.log_sd.exp())
