"""WGAN with gradient penalty: learn a skewed, two-humped univariate law plus its companion variable."""
import torch
import torch.nn as nn
from tqdm import trange

torch.manual_seed(1)
ITERS, BATCH, N_CRITIC, LAMBDA = 700, 128, 3, 5.0


def real(n):
    c = (torch.rand(n) < 0.3).float()
    a = c * (2.0 + 0.3 * torch.randn(n)) + (1 - c) * (-1.0 + 0.5 * torch.randn(n))
    b = 0.5 * a ** 2 - 1 + 0.2 * torch.randn(n)
    return torch.stack([a, b], 1)


def net(i, o):
    return nn.Sequential(nn.Linear(i, 64), nn.LeakyReLU(0.1), nn.Linear(64, 64), nn.LeakyReLU(0.1), nn.Linear(64, o))


def penalty(critic, x, z):
    t = torch.rand(len(x), 1)
    mix = (t * x + (1 - t) * z).requires_grad_(True)
    (g,) = torch.autograd.grad(critic(mix).sum(), mix, create_graph=True)
    return (g.norm(dim=1) - 1).pow(2).mean()


def energy(a, b):
    return (2 * torch.cdist(a, b).mean() - torch.cdist(a, a).mean() - torch.cdist(b, b).mean()).item()


def main():
    gen, critic = net(4, 2), net(2, 1)
    og = torch.optim.Adam(gen.parameters(), lr=1e-3, betas=(0.0, 0.9))
    oc = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.0, 0.9))
    held = real(1000)
    with torch.no_grad():
        print(f"untrained generator: energy distance {energy(gen(torch.randn(1000, 4)), held):.4f}")
    for it in (bar := trange(ITERS, mininterval=4)):
        for _ in range(N_CRITIC):
            x = real(BATCH)
            with torch.no_grad():
                z = gen(torch.randn(BATCH, 4))
            loss_c = critic(z).mean() - critic(x).mean() + LAMBDA * penalty(critic, x, z)
            oc.zero_grad()
            loss_c.backward()
            oc.step()
        loss_g = -critic(gen(torch.randn(BATCH, 4))).mean()
        og.zero_grad()
        loss_g.backward()
        og.step()
        if (it + 1) % 140 == 0:
            with torch.no_grad():
                e = energy(gen(torch.randn(1000, 4)), held)
            bar.write(f"iter {it + 1} critic {loss_c.item():+.3f} generator {loss_g.item():+.3f} energy distance {e:.4f}")
    gauss = held.mean(0) + held.std(0) * torch.randn(1000, 2)
    print(f"final energy distance {e:.4f}; matched gaussian {energy(gauss, held):.4f}; two real samples {energy(real(1000), held):.4f}")


if __name__ == "__main__":
    main()
