"""Points on a ring from noise (GAN); samples are drawn from an average of the generator's weights."""

import copy
import math

import torch
from torch import nn
from torch.nn import functional

BATCH_SIZE, STEPS, KEEP = 128, 400, 0.98


def ring(rows):
    angle = 2 * math.pi * torch.rand(rows)
    points = torch.stack([torch.cos(angle), torch.sin(angle)], 1)
    return points + 0.05 * torch.randn(rows, 2)


def network(inputs, outputs):
    return nn.Sequential(
        nn.Linear(inputs, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2),
        nn.Linear(64, outputs),
    )


def follow(average, generator):
    """Moves the averaged weights a little towards those that learn."""
    with torch.no_grad():
        for kept, new in zip(average.parameters(), generator.parameters()):
            kept.mul_(KEEP).add_(new, alpha=1 - KEEP)


def distance(points, others):
    """Energy distance between two clouds."""
    return (
        2 * torch.cdist(points, others).mean()
        - torch.cdist(points, points).mean()
        - torch.cdist(others, others).mean()
    ).item()


def main():
    torch.manual_seed(0)
    generator, critic = network(4, 2), network(2, 1)
    average = copy.deepcopy(generator)
    generator_optimizer = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.9))
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=2e-3, betas=(0.5, 0.9))
    for step in range(STEPS):
        real, fake = ring(BATCH_SIZE), generator(torch.randn(BATCH_SIZE, 4))
        loss = functional.softplus(-critic(real)).mean() + functional.softplus(critic(fake.detach())).mean()
        critic_optimizer.zero_grad()
        loss.backward()
        critic_optimizer.step()
        generator_loss = functional.softplus(-critic(fake)).mean()
        generator_optimizer.zero_grad()
        generator_loss.backward()
        generator_optimizer.step()
        follow(average, generator)
        if step % 100 == 99:
            with torch.no_grad():
                error = distance(average(torch.randn(800, 4)), ring(800))
            print(f"step {step + 1} val error {error:.4f}")


if __name__ == "__main__":
    main()
