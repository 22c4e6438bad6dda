"""WGAN-GP on a ring of Gaussians. Critic and generator have their own optimizers; samples come from an averaged generator."""
import copy

import torch
import torch.nn as nn

torch.manual_seed(77)
N_MODES, RADIUS, NOISE = 8, 2.0, 0.12
LATENT, BATCH, N_CRITIC, GEN_STEPS = 8, 128, 2, 700
angles = torch.arange(N_MODES) * (2 * torch.pi / N_MODES)
centres = RADIUS * torch.stack([angles.cos(), angles.sin()], 1)


def real_batch(n):
    which = torch.randint(N_MODES, (n,))
    return centres[which] + NOISE * torch.randn(n, 2)


def mlp(i, o, h=96):
    return nn.Sequential(nn.Linear(i, h), nn.LeakyReLU(0.2), nn.Linear(h, h), nn.LeakyReLU(0.2), nn.Linear(h, o))


def penalty(critic, real, fake, weight=0.1):
    eps = torch.rand(real.size(0), 1)
    mix = (eps * real + (1 - eps) * fake).requires_grad_(True)
    grad, = torch.autograd.grad(critic(mix).sum(), mix, create_graph=True)
    return weight * (grad.norm(2, dim=1) - 1).pow(2).mean()


def energy_distance(a, b):
    return (2 * torch.cdist(a, b).mean() - torch.cdist(a, a).mean() - torch.cdist(b, b).mean()).item()


@torch.no_grad()
def report(gen, n=2000):
    fake = gen(torch.randn(n, LATENT))
    dist, mode = torch.cdist(fake, centres).min(1)
    good = dist < 4 * NOISE
    hit = torch.bincount(mode[good], minlength=N_MODES)
    return energy_distance(fake, real_batch(n)), good.float().mean().item(), int((hit > n / N_MODES / 5).sum())


gen, critic = mlp(LATENT, 2), mlp(2, 1)
ema = copy.deepcopy(gen).requires_grad_(False)
opt_g = torch.optim.Adam(gen.parameters(), lr=1.5e-3, betas=(0.0, 0.9))
opt_c = torch.optim.Adam(critic.parameters(), lr=3e-3, betas=(0.0, 0.9))
print("before: energy %.4f  on-mode %.2f  modes %d" % report(gen))

for step in range(1, GEN_STEPS + 1):
    for _ in range(N_CRITIC):
        real = real_batch(BATCH)
        with torch.no_grad():
            fake = gen(torch.randn(BATCH, LATENT))
        loss_c = critic(fake).mean() - critic(real).mean() + penalty(critic, real, fake)
        opt_c.zero_grad()
        loss_c.backward()
        opt_c.step()

    critic.requires_grad_(False)
    loss_g = -critic(gen(torch.randn(BATCH, LATENT))).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    critic.requires_grad_(True)

    with torch.no_grad():
        for avg, p in zip(ema.parameters(), gen.parameters()):
            avg.lerp_(p, 0.02)
    if step % 140 == 0:
        e, on, modes = report(ema)
        print(f"step {step}: critic {loss_c.item():+.3f}  gen {loss_g.item():+.3f}  energy {e:.4f}  on-mode {on:.2f}  modes {modes}/8")

gauss = real_batch(2000).std(0) * torch.randn(2000, 2)
print(f"energy: real vs real {energy_distance(real_batch(2000), real_batch(2000)):.4f}, Gaussian fit {energy_distance(gauss, real_batch(2000)):.4f}")
