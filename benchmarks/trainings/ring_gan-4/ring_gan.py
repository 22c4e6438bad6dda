import copy
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.parametrizations import spectral_norm

MODES, RADIUS, NOISE = 8, 2.0, 0.12
torch.manual_seed(2024)


def real_batch(n):
    k = torch.randint(0, MODES, (n,))
    angle = 2 * math.pi * k / MODES
    centre = RADIUS * torch.stack([angle.cos(), angle.sin()], dim=1)
    return centre + NOISE * torch.randn(n, 2)


class Generator(nn.Module):
    def __init__(self, z=8, h=96):
        super().__init__()
        self.z = z
        self.body = nn.Sequential(
            nn.Linear(z, h), nn.LeakyReLU(0.2),
            nn.Linear(h, h), nn.LeakyReLU(0.2),
            nn.Linear(h, 2),
        )

    def sample(self, n):
        return self.body(torch.randn(n, self.z))


class Critic(nn.Module):
    def __init__(self, h=96):
        super().__init__()
        self.body = nn.Sequential(
            spectral_norm(nn.Linear(2, h)), nn.LeakyReLU(0.2),
            spectral_norm(nn.Linear(h, h)), nn.LeakyReLU(0.2),
            spectral_norm(nn.Linear(h, h)), nn.LeakyReLU(0.2),
            spectral_norm(nn.Linear(h, 1)),
        )

    def forward(self, x):
        return 10.0 * self.body(x).squeeze(1)


@torch.no_grad()
def update_average(avg, net, decay):
    for a, p in zip(avg.parameters(), net.parameters()):
        a.lerp_(p, 1 - decay)


@torch.no_grad()
def report(step, avg, d_loss, g_loss):
    pts = avg.sample(4000)
    k = torch.arange(MODES)
    centres = RADIUS * torch.stack([(2 * math.pi * k / MODES).cos(), (2 * math.pi * k / MODES).sin()], dim=1)
    dist, nearest = torch.cdist(pts, centres).min(dim=1)
    close = dist < 3.5 * NOISE
    share = torch.bincount(nearest[close], minlength=MODES) / len(pts)
    modes = int((share > 0.02).sum())
    print(f"step {step:5d}  D {d_loss:.3f}  G {g_loss:+.3f}  near a mode {close.float().mean():.3f}  modes {modes}/8", flush=True)


def main(steps=2000, batch=192):
    g, d = Generator(), Critic()
    g_avg = copy.deepcopy(g).requires_grad_(False)
    # two time scales: the critic learns four times as fast as the generator
    opt_d = torch.optim.Adam(d.parameters(), lr=2e-3, betas=(0.0, 0.9))
    opt_g = torch.optim.Adam(g.parameters(), lr=5e-4, betas=(0.0, 0.9))
    for step in range(1, steps + 1):
        with torch.no_grad():
            fake = g.sample(batch)
        d_loss = F.relu(1 - d(real_batch(batch))).mean() + F.relu(1 + d(fake)).mean()
        opt_d.zero_grad()
        d_loss.backward()
        opt_d.step()

        d.requires_grad_(False)
        g_loss = -d(g.sample(batch)).mean()
        opt_g.zero_grad()
        g_loss.backward()
        opt_g.step()
        d.requires_grad_(True)

        update_average(g_avg, g, 0.99 if step > 200 else 0.8)
        if step % 250 == 0:
            report(step, g_avg, d_loss.item(), g_loss.item())


if __name__ == "__main__":
    main()
