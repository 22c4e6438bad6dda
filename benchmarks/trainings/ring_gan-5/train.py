"""WGAN-GP on a ring of eight Gaussians."""
import math

import torch
from torch import autograd, nn

torch.manual_seed(2024)

MODES = 8
LATENT = 4
STEPS = 800
N_CRITIC = 3
LAMBDA_GP = 1.0

angles = torch.arange(MODES) * 2 * math.pi / MODES
centres = 2.0 * torch.stack([angles.cos(), angles.sin()], dim=1)


def real_batch(n):
    return centres[torch.randint(MODES, (n,))] + 0.08 * torch.randn(n, 2)


def mlp(sizes, act):
    layers = []
    for a, b in zip(sizes[:-2], sizes[1:-1]):
        layers += [nn.Linear(a, b), act()]
    return nn.Sequential(*layers, nn.Linear(sizes[-2], sizes[-1]))


generator = mlp([LATENT, 96, 96, 2], nn.ReLU)
critic = mlp([2, 96, 96, 1], lambda: nn.LeakyReLU(0.2))
averaged = torch.optim.swa_utils.AveragedModel(
    generator, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.98)
)
# no first moment, as in the paper; the critic is allowed to move faster than the generator
opt_g = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.0, 0.9))
opt_c = torch.optim.Adam(critic.parameters(), lr=3e-3, betas=(0.0, 0.9))
decay_g, decay_c = (
    torch.optim.lr_scheduler.LambdaLR(o, lambda step: 1 - 0.9 * step / STEPS) for o in (opt_g, opt_c)
)


def gradient_penalty(real, fake):
    eps = torch.rand(len(real), 1)
    mixed = (eps * real + (1 - eps) * fake).requires_grad_(True)
    (grad,) = autograd.grad(critic(mixed).sum(), mixed, create_graph=True)
    return ((grad.norm(dim=1) - 1) ** 2).mean()


@torch.no_grad()
def quality(model, n=2000):
    points = model(torch.randn(n, LATENT))
    dist, which = torch.cdist(points, centres).min(dim=1)
    good = dist < 0.35
    counts = torch.bincount(which[good], minlength=MODES)
    return good.float().mean().item(), int((counts > n / MODES / 5).sum())


for step in range(1, STEPS + 1):
    for _ in range(N_CRITIC):
        real = real_batch(128)
        with torch.no_grad():
            fake = generator(torch.randn(128, LATENT))
        wasserstein = critic(real).mean() - critic(fake).mean()
        loss_c = -wasserstein + LAMBDA_GP * gradient_penalty(real, fake)
        opt_c.zero_grad()
        loss_c.backward()
        opt_c.step()

    loss_g = -critic(generator(torch.randn(128, LATENT))).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    averaged.update_parameters(generator)
    decay_g.step()
    decay_c.step()

    if step % 100 == 0:
        near, modes = quality(averaged)
        print(f"step {step:5d}  W estimate {wasserstein.item():.3f}  critic loss {loss_c.item():+.3f}  "
              f"generator loss {loss_g.item():+.3f}  near a mode {near:.1%}  modes {modes}/{MODES}")
