# GAN on a ring of eight gaussians
import math

import torch
import torch.nn as nn
from tqdm import trange

torch.manual_seed(5)
STEPS, BATCH, ZDIM = 3000, 128, 8
CENTRES = torch.tensor([[2 * math.cos(k * math.pi / 4), 2 * math.sin(k * math.pi / 4)] for k in range(8)])


def real_batch(n):
    k = torch.randint(8, (n,))
    return CENTRES[k] + 0.08 * torch.randn(n, 2)


def mlp(i, o, h=96):
    return nn.Sequential(nn.Linear(i, h), nn.LeakyReLU(0.2), nn.Linear(h, h), nn.LeakyReLU(0.2), nn.Linear(h, o))


class Trainer:
    def __init__(self):
        self.G, self.D = mlp(ZDIM, 2), mlp(2, 1)
        self.opt_g = torch.optim.Adam(self.G.parameters(), lr=1e-3, betas=(0.5, 0.9))
        self.opt_d = torch.optim.Adam(self.D.parameters(), lr=1e-3, betas=(0.5, 0.9))
        self.bce = nn.BCEWithLogitsLoss()

    def sample(self, n):
        return self.G(torch.randn(n, ZDIM))

    def step_d(self, real, fake):
        ones, zeros = torch.ones(len(real), 1), torch.zeros(len(fake), 1)
        loss = self.bce(self.D(real), 0.9 * ones) + self.bce(self.D(fake), zeros)
        self.opt_d.zero_grad()
        loss.backward()
        self.opt_d.step()
        return loss.item()

    def step_g(self, fake):
        loss = self.bce(self.D(fake), torch.ones(len(fake), 1))
        self.opt_g.zero_grad()
        loss.backward()
        self.opt_g.step()
        return loss.item()

    def train_step(self):
        real = real_batch(BATCH)
        fake = self.sample(BATCH).detach()
        d = self.step_d(real, fake)
        g = self.step_g(fake)
        return d, g


@torch.no_grad()
def report(tr, n=2000):
    pts = tr.sample(n)
    dist = torch.cdist(pts, CENTRES)
    near, which = dist.min(1)
    ok = near < 0.3
    modes = (torch.bincount(which[ok], minlength=8) > n * 0.02).sum().item()
    return ok.float().mean().item(), modes


def main():
    tr = Trainer()
    bar = trange(STEPS, mininterval=3)
    for it in bar:
        d, g = tr.train_step()
        if (it + 1) % 500 == 0:
            frac, modes = report(tr)
            bar.write(f"iter {it + 1}: D {d:.3f} G {g:.3f} | on a mode {frac:.2f}, modes covered {modes}/8")
    frac, modes = report(tr)
    print(f"final: on a mode {frac:.2f}, modes covered {modes}/8")


if __name__ == "__main__":
    main()
