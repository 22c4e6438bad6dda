"""WGAN-GP on a ring of eight Gaussians; five critic steps per generator step, EMA generator for sampling."""
import copy
import math

import torch
from torch import nn, autograd

torch.manual_seed(101)
LATENT, HIDDEN, BATCH = 8, 96, 128
N_CRITIC, GP_WEIGHT, G_STEPS = 5, 5.0, 700
MODES = torch.tensor([[2 * math.cos(a), 2 * math.sin(a)] for a in torch.arange(8) * math.pi / 4])


def real_points(n):
    which = torch.randint(0, 8, (n,))
    return MODES[which] + 0.08 * torch.randn(n, 2)


def mlp(d_in, d_out, act):
    return nn.Sequential(
        nn.Linear(d_in, HIDDEN), act(),
        nn.Linear(HIDDEN, HIDDEN), act(),
        nn.Linear(HIDDEN, d_out),
    )


gen = mlp(LATENT, 2, nn.ReLU)
critic = mlp(2, 1, lambda: nn.LeakyReLU(0.2))
gen_ema = copy.deepcopy(gen).requires_grad_(False)

opt_g = torch.optim.Adam(gen.parameters(), lr=1e-3, betas=(0.5, 0.9))
opt_c = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.9))


def gradient_penalty(real, fake):
    eps = torch.rand(len(real), 1)
    mid = (eps * real + (1 - eps) * fake).requires_grad_(True)
    (grad,) = autograd.grad(critic(mid).sum(), mid, create_graph=True)
    return ((grad.norm(2, dim=1) - 1) ** 2).mean()


@torch.no_grad()
def update_ema(decay=0.99):
    for slow, fast in zip(gen_ema.parameters(), gen.parameters()):
        slow.lerp_(fast, 1 - decay)


@torch.no_grad()
def quality(net, n=2000):
    pts = net(torch.randn(n, LATENT))
    d = torch.cdist(pts, MODES)
    near, which = d.min(1)
    good = near < 0.35
    covered = (torch.bincount(which[good], minlength=8) > n * 0.02).sum().item()
    return covered, good.float().mean().item()


print("untrained: modes %d, high quality %.2f" % quality(gen))
for step in range(1, G_STEPS + 1):
    for _ in range(N_CRITIC):
        real = real_points(BATCH)
        fake = gen(torch.randn(BATCH, LATENT)).detach()
        gap = critic(fake).mean() - critic(real).mean()
        penalty = gradient_penalty(real, fake)
        loss_c = gap + GP_WEIGHT * penalty
        opt_c.zero_grad()
        loss_c.backward()
        opt_c.step()

    for p in critic.parameters():
        p.requires_grad_(False)
    loss_g = -critic(gen(torch.randn(BATCH, LATENT))).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    for p in critic.parameters():
        p.requires_grad_(True)
    update_ema()

    if step % 100 == 0:
        modes, share = quality(gen_ema)
        print(
            f"step {step:4d}  critic {loss_c.item():+.3f} (W est {-gap.item():.3f}, gp {penalty.item():.4f})"
            f"  gen {loss_g.item():+.3f}  modes {modes}/8  high-quality {share:.2f}"
        )

modes, share = quality(gen_ema, 5000)
print(f"final: {modes} of 8 modes, {share:.1%} of samples close to a mode")
