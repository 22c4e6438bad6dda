# Hinge GAN for wind vectors along a curved valley (2-d). Two optimizers, four times faster critic,
# fakes detached for the critic, weights of G averaged (only the average is used for samples).
# The critic's loss sitting near 2 and G's loss drifting around zero or below is what equilibrium looks like here.
import copy
from types import SimpleNamespace as NS

import torch
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm

hp = NS(steps=1200, batch=128, z=4, lr_d=2e-3, lr_g=5e-4, ema=0.99, seed=31)
torch.manual_seed(hp.seed)


def winds(n):
    t = torch.rand(n) * 3.0 - 1.5
    x = torch.stack([t, torch.sin(2 * t)], 1)
    return x + 0.08 * torch.randn(n, 2)


def gen():
    return nn.Sequential(nn.Linear(hp.z, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 2))


def critic():
    sn = spectral_norm
    return nn.Sequential(sn(nn.Linear(2, 64)), nn.LeakyReLU(0.1), sn(nn.Linear(64, 64)), nn.LeakyReLU(0.1), nn.Linear(64, 1))


G, C = gen(), critic()
G_avg = copy.deepcopy(G).requires_grad_(False)
og = torch.optim.Adam(G.parameters(), lr=hp.lr_g, betas=(0.0, 0.9))
oc = torch.optim.Adam(C.parameters(), lr=hp.lr_d, betas=(0.0, 0.9))


def off_curve(x):
    """mean distance to the valley's axis"""
    t = torch.linspace(-1.6, 1.6, 400)
    axis = torch.stack([t, torch.sin(2 * t)], 1)
    return torch.cdist(x, axis).amin(1).mean().item()


def energy(a, b):
    return (2 * torch.cdist(a, b).mean() - torch.cdist(a, a).mean() - torch.cdist(b, b).mean()).item()


held_out = winds(1500)
for step in range(1, hp.steps + 1):
    real = winds(hp.batch)
    fake = G(torch.randn(hp.batch, hp.z))

    c_loss = torch.relu(1 - C(real)).mean() + torch.relu(1 + C(fake.detach())).mean()
    oc.zero_grad()
    c_loss.backward()
    oc.step()

    g_loss = -C(fake).mean()
    og.zero_grad()
    g_loss.backward()          # also fills C's gradients, they are cleared before C's next step
    og.step()

    with torch.no_grad():
        for a, p in zip(G_avg.parameters(), G.parameters()):
            a.lerp_(p, 1 - hp.ema)
    if step % 200 == 0:
        with torch.no_grad():
            s = G_avg(torch.randn(1500, hp.z))
        print(f"{step:5d} critic {c_loss.item():.3f} generator {g_loss.item():+.3f} energy {energy(s, held_out):.4f} off axis {off_curve(s):.3f}")

cloud = torch.randn(1500, 2) * held_out.std(0) + held_out.mean(0)
print(f"fitted normal cloud: energy {energy(cloud, held_out):.4f} off axis {off_curve(cloud):.3f}; real data off axis {off_curve(held_out):.3f}")
