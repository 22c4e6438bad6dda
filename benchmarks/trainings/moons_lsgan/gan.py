"""A least-squares GAN that learns the distribution of the two-moons set."""
import argparse

import torch
import torch.nn as nn
from sklearn.datasets import make_moons


class Generator(nn.Module):
    def __init__(self, nz, width):
        super().__init__()
        self.nz = nz
        self.net = nn.Sequential(
            nn.Linear(nz, width), nn.BatchNorm1d(width), nn.ReLU(),
            nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU(),
            nn.Linear(width, 2),
        )

    def forward(self, n):
        return self.net(torch.randn(n, self.nz))


class Discriminator(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, width), nn.LeakyReLU(0.2),
            nn.Linear(width, width), nn.LeakyReLU(0.2),
            nn.Linear(width, 1),
        )

    def forward(self, x):
        return self.net(x).squeeze(1)


def d_criterion(real_score, fake_score):
    return 0.5 * (real_score - 1).pow(2).mean() - 0.5 * fake_score.pow(2).mean()


def g_criterion(fake_score):
    return 0.5 * (fake_score - 1).pow(2).mean()


@torch.no_grad()
def energy_distance(a, b):
    ab = torch.cdist(a, b).mean()
    return (2 * ab - torch.cdist(a, a).mean() - torch.cdist(b, b).mean()).item()


def main(opt):
    torch.manual_seed(opt.seed)
    points, _ = make_moons(4000, noise=0.05, random_state=opt.seed)
    points = torch.tensor(points, dtype=torch.float32)
    points = (points - points.mean(0)) / points.std(0)
    train, held = points[:3000], points[3000:]

    netG, netD = Generator(opt.nz, opt.width), Discriminator(opt.width)
    optG = torch.optim.Adam(netG.parameters(), lr=opt.lr, betas=(0.5, 0.9))
    optD = torch.optim.Adam(netD.parameters(), lr=2 * opt.lr, betas=(0.5, 0.9))

    for epoch in range(opt.epochs):
        sum_d = sum_g = 0.0
        netG.train()
        batches = train[torch.randperm(len(train))].split(opt.batch_size)
        for real in batches:
            fake = netG(len(real)).detach()
            loss_d = d_criterion(netD(real), netD(fake))
            optD.zero_grad()
            loss_d.backward()
            optD.step()

            loss_g = g_criterion(netD(netG(opt.batch_size)))
            optG.zero_grad()
            loss_g.backward()
            optG.step()
            sum_d += loss_d.item()
            sum_g += loss_g.item()
        if (epoch + 1) % 5 == 0:
            netG.eval()
            sample = netG.forward(1000).detach()
            print(f"epoch {epoch + 1:3d}  D {sum_d / len(batches):10.3f}  G {sum_g / len(batches):10.3f}  "
                  f"energy distance {energy_distance(sample, held):.4f}  "
                  f"std {sample.std(0)[0]:.2f}/{sample.std(0)[1]:.2f}")


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=20)
    p.add_argument("--batch-size", type=int, default=100)
    p.add_argument("--nz", type=int, default=6)
    p.add_argument("--width", type=int, default=96)
    p.add_argument("--lr", type=float, default=5e-4)
    p.add_argument("--seed", type=int, default=12)
    main(p.parse_args())
