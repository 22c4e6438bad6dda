"""WGAN with gradient penalty on two moons. The critic's loss is a difference and goes below zero."""
import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import make_moons

SEED, LATENT, BATCH, CRITIC_STEPS, GP_WEIGHT = 16, 4, 128, 4, 0.3
GENERATOR_STEPS = 700


def mlp(n_in, n_out, hidden=64):
    return nn.Sequential(
        nn.Linear(n_in, hidden), nn.LeakyReLU(0.2),
        nn.Linear(hidden, hidden), nn.LeakyReLU(0.2),
        nn.Linear(hidden, n_out),
    )


def gradient_penalty(critic, real, fake):
    mix = torch.rand(len(real), 1)
    point = (mix * real + (1 - mix) * fake).requires_grad_(True)
    score = critic(point).sum()
    (grad,) = torch.autograd.grad(score, point, create_graph=True)
    return ((grad.norm(2, dim=1) - 1) ** 2).mean()


def energy_distance(a, b):
    """Two-sample distance, zero when the distributions agree."""
    return (2 * torch.cdist(a, b).mean() - torch.cdist(a, a).mean() - torch.cdist(b, b).mean()).item()


def main():
    torch.manual_seed(SEED)
    np.random.seed(SEED)
    points, _ = make_moons(4000, noise=0.06, random_state=SEED)
    points = torch.tensor((points - points.mean(0)) / points.std(0), dtype=torch.float32)
    held_out, points = points[:800], points[800:]

    generator, critic = mlp(LATENT, 2), mlp(2, 1)
    opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.9))
    opt_c = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.9))
    decay = [torch.optim.lr_scheduler.LinearLR(o, 1.0, 0.02, total_iters=GENERATOR_STEPS) for o in (opt_g, opt_c)]

    for step in range(1, GENERATOR_STEPS + 1):
        for _ in range(CRITIC_STEPS):
            real = points[torch.randint(len(points), (BATCH,))]
            with torch.no_grad():
                fake = generator(torch.randn(BATCH, LATENT))
            wasserstein = critic(real).mean() - critic(fake).mean()
            critic_loss = -wasserstein + GP_WEIGHT * gradient_penalty(critic, real, fake)
            opt_c.zero_grad()
            critic_loss.backward()
            opt_c.step()

        generator_loss = -critic(generator(torch.randn(BATCH, LATENT))).mean()
        opt_g.zero_grad()
        generator_loss.backward()
        opt_g.step()
        for schedule in decay:
            schedule.step()

        if step % 100 == 0:
            with torch.no_grad():
                dist = energy_distance(generator(torch.randn(800, LATENT)), held_out)
            print(f"step {step:4d} critic {critic_loss.item():+.4f} generator {generator_loss.item():+.4f} "
                  f"W estimate {wasserstein.item():.4f} energy distance {dist:.4f}")

    with torch.no_grad():
        noise = energy_distance(torch.randn(800, 2), held_out)
        final = energy_distance(generator(torch.randn(800, LATENT)), held_out)
    print(f"energy distance: generator {final:.4f}, plain Gaussian {noise:.4f}")


if __name__ == "__main__":
    main()
