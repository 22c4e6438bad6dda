"""GAN that learns a bent two-dimensional distribution."""

import copy

import torch
import torch.nn.functional as F
from torch import nn


def real_samples(n):
    t = torch.rand(n) * 2 - 1
    return torch.stack([2 * t, torch.sin(3 * t)], dim=1) + 0.05 * torch.randn(n, 2)


def mlp(sizes, act):
    layers = []
    for a, b in zip(sizes[:-2], sizes[1:-1]):
        layers += [nn.Linear(a, b), act()]
    return nn.Sequential(*layers, nn.Linear(sizes[-2], sizes[-1]))


class Trainer:
    def __init__(self, z_dim=4, lr=1e-3, smooth=0.9):
        self.z_dim, self.smooth = z_dim, smooth
        self.gen = mlp([z_dim, 64, 64, 2], nn.ReLU)
        self.disc = mlp([2, 64, 64, 1], lambda: nn.LeakyReLU(0.2))
        self.gen_avg = copy.deepcopy(self.gen).requires_grad_(False)
        self.g_opt = torch.optim.Adam(self.gen.parameters(), lr=lr, betas=(0.5, 0.99))
        self.d_opt = torch.optim.Adam(self.disc.parameters(), lr=lr, betas=(0.5, 0.99))

    def disc_step(self, real):
        fake = self.gen(torch.randn(len(real), self.z_dim)).detach()
        on_real, on_fake = self.disc(real), self.disc(fake)
        loss = F.binary_cross_entropy_with_logits(on_real, torch.full_like(on_real, self.smooth))
        loss = loss + F.binary_cross_entropy_with_logits(on_fake, torch.zeros_like(on_fake))
        self.d_opt.zero_grad()
        loss.backward()
        self.d_opt.step()
        return loss.item()

    def gen_step(self, n):
        score = self.disc(self.gen(torch.randn(n, self.z_dim)))
        loss = F.softplus(-score).mean()
        self.g_opt.zero_grad()
        loss.backward()
        self.g_opt.step()
        with torch.no_grad():
            for avg, p in zip(self.gen_avg.parameters(), self.gen.parameters()):
                avg.mul_(0.99).add_(p, alpha=0.01)
        return loss.item()

    @torch.no_grad()
    def distance(self, n=400):
        fake, real = self.gen_avg(torch.randn(n, self.z_dim)), real_samples(n)
        d = torch.cdist(fake, real)
        return d.min(dim=1).values.mean().item(), d.min(dim=0).values.mean().item()


def main(steps=800, batch=128):
    torch.manual_seed(26)
    trainer = Trainer()
    print("start: fake->real %.3f real->fake %.3f" % trainer.distance())
    for step in range(1, steps + 1):
        d_loss = trainer.disc_step(real_samples(batch))
        g_loss = trainer.gen_step(batch)
        if step % 100 == 0:
            near, cover = trainer.distance()
            print(f"step {step}: D {d_loss:.3f} G {g_loss:.3f} fake->real {near:.3f} real->fake {cover:.3f}")


if __name__ == "__main__":
    main()
