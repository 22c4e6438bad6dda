"""Wasserstein GAN of monthly rainfall at twelve stations: one critic, one generator."""

from itertools import chain

import numpy as np
import torch
from torch import nn

torch.manual_seed(16)
rng = np.random.default_rng(16)
STATIONS, NOISE = 12, 10


def rainfall(n):
    """Stations share a season and a front; amounts are positive and skewed."""
    mixing = rng.normal(0, 0.5, (3, STATIONS))
    front = rng.normal(size=(n, 3))
    log_amount = front @ mixing + 0.2 * rng.normal(size=(n, STATIONS))
    amount = np.exp(log_amount)
    amount = (amount - amount.mean(0)) / amount.std(0)
    return torch.tensor(amount, dtype=torch.float32)


def block(a, b):
    return [nn.Linear(a, b), nn.ReLU()]


def make(sizes):
    hidden = chain.from_iterable(block(a, b) for a, b in zip(sizes[:-2], sizes[1:-1]))
    return nn.Sequential(*hidden, nn.Linear(sizes[-2], sizes[-1]))


data = rainfall(4000)
generator = make([NOISE, 64, 64, STATIONS])
critic = make([STATIONS, 64, 64, 1])
g_optim = torch.optim.RMSprop(generator.parameters(), lr=5e-4)
c_optim = torch.optim.RMSprop(critic.parameters(), lr=5e-4)

CRITIC_STEPS, CLIP, BATCH = 5, 0.05, 64


def batch():
    return data[torch.randint(0, len(data), (BATCH,))]


def covariance_gap():
    with torch.no_grad():
        made = generator(torch.randn(2000, NOISE))
    return (torch.cov(made.T) - torch.cov(data.T)).abs().mean().item()


print(f"covariance gap at the start {covariance_gap():.3f}")
for iteration in range(1, 401):
    for _ in range(CRITIC_STEPS):
        real = batch()
        with torch.no_grad():
            fake = generator(torch.randn(BATCH, NOISE))
        critic_loss = critic(fake).mean() - critic(real).mean()
        c_optim.zero_grad()
        critic_loss.backward()
        c_optim.step()

    fake = generator(torch.randn(BATCH, NOISE))
    generator_loss = -critic(fake).mean()
    g_optim.zero_grad()
    generator_loss.backward()
    g_optim.step()

    if iteration % 80 == 0:
        print(
            f"iteration {iteration}: critic {critic_loss.item():.3f} generator {generator_loss.item():.3f} "
            f"covariance gap {covariance_gap():.3f}"
        )
