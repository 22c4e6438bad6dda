"""WGAN with gradient penalty on states of a pendulum (angle as sine and cosine, and speed)."""

import math

import torch
from torch import autograd, nn

torch.manual_seed(27)
LATENT, BATCH, CRITIC_STEPS, PENALTY = 6, 64, 5, 10.0


def states(n):
    """On energy levels between swinging and turning over."""
    energy = 0.5 + torch.rand(n)
    angle = (torch.rand(n) - 0.5) * 2 * math.pi
    kinetic = (energy + torch.cos(angle)).clamp(min=0.0)
    sign = torch.randint(0, 2, (n,)) * 2 - 1
    speed = sign * torch.sqrt(2 * kinetic)
    return torch.stack([torch.sin(angle), torch.cos(angle), speed], dim=1)


class Maker(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(LATENT, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, 3))

    def forward(self, z):
        return self.body(z)  # nothing forces the first two onto a circle: that is to be learned


def gradient_penalty(critic, real, fake):
    mix = torch.rand(len(real), 1)
    between = (mix * real + (1 - mix) * fake).requires_grad_(True)
    (slope,) = autograd.grad(critic(between).sum(), between, create_graph=True)
    return ((slope.norm(dim=1) - 1) ** 2).mean()


def energy_gap(a, b):
    """Energy distance between two clouds."""
    return (2 * torch.cdist(a, b).mean() - torch.cdist(a, a).mean() - torch.cdist(b, b).mean()).item()


def main():
    maker = Maker()
    critic = nn.Sequential(nn.Linear(3, 96), nn.LeakyReLU(0.2), nn.Linear(96, 96), nn.LeakyReLU(0.2), nn.Linear(96, 1))
    maker_opt = torch.optim.Adam(maker.parameters(), lr=3e-4, betas=(0.5, 0.9))
    critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.9))
    held_out = states(1500)
    for step in range(1, 351):
        for _ in range(CRITIC_STEPS):
            real, fake = states(BATCH), maker(torch.randn(BATCH, LATENT)).detach()
            critic_loss = critic(fake).mean() - critic(real).mean() + PENALTY * gradient_penalty(critic, real, fake)
            critic_opt.zero_grad()
            critic_loss.backward()
            critic_opt.step()
        for parameter in critic.parameters():
            parameter.requires_grad_(False)  # the maker's step needs no gradients in the critic
        maker_loss = -critic(maker(torch.randn(BATCH, LATENT))).mean()
        maker_opt.zero_grad()
        maker_loss.backward()
        maker_opt.step()
        for parameter in critic.parameters():
            parameter.requires_grad_(True)
        if step == 1 or step % 70 == 0:
            with torch.no_grad():
                gap = energy_gap(held_out, maker(torch.randn(1500, LATENT)))
            print(f"step {step:3d} critic {critic_loss.item():+.3f} maker {maker_loss.item():+.3f} energy distance {gap:.4f}")


if __name__ == "__main__":
    main()
