"""DDPM on two-dimensional points; the averaged weights are used for sampling."""
import copy
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import make_moons


@dataclass
class Cfg:
    T: int = 60
    steps: int = 2500
    batch: int = 256
    hidden: int = 96
    lr: float = 2e-3
    ema_decay: float = 0.9999
    seed: int = 0


class Denoiser(nn.Module):
    def __init__(self, T, h):
        super().__init__()
        self.temb = nn.Embedding(T, h)
        self.inp = nn.Linear(2, h)
        self.net = nn.Sequential(nn.SiLU(), nn.Linear(h, h), nn.SiLU(), nn.Linear(h, h), nn.SiLU(), nn.Linear(h, 2))

    def forward(self, x, t):
        return self.net(self.inp(x) + self.temb(t))


class Diffusion:
    def __init__(self, T):
        self.T = T
        self.beta = torch.linspace(1e-3, 0.12, T)
        self.alpha = 1 - self.beta
        self.abar = torch.cumprod(self.alpha, 0)

    def noise(self, x0, t, eps):
        a = self.abar[t][:, None]
        return a.sqrt() * x0 + (1 - a).sqrt() * eps

    @torch.no_grad()
    def sample(self, model, n):
        x = torch.randn(n, 2)
        for t in reversed(range(self.T)):
            eps = model(x, torch.full((n,), t))
            x = (x - self.beta[t] / (1 - self.abar[t]).sqrt() * eps) / self.alpha[t].sqrt()
            if t > 0:
                x = x + self.beta[t].sqrt() * torch.randn_like(x)
        return x


class EMA:
    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = copy.deepcopy(model).requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for s, p in zip(self.shadow.parameters(), model.parameters()):
            s.mul_(self.decay).add_(p, alpha=1 - self.decay)


def points(n, seed=None):
    x, _ = make_moons(n, noise=0.05, random_state=seed)
    return torch.tensor((x - [0.5, 0.25]) / [0.87, 0.5], dtype=torch.float32)


def energy_distance(a, b):
    return (2 * torch.cdist(a, b).mean() - torch.cdist(a, a).mean() - torch.cdist(b, b).mean()).item()


def main(c=Cfg()):
    torch.manual_seed(c.seed)
    np.random.seed(c.seed)
    data, held = points(4000, 1), points(1000, 2)
    dif = Diffusion(c.T)
    model = Denoiser(c.T, c.hidden)
    ema = EMA(model, c.ema_decay)
    opt = torch.optim.AdamW(model.parameters(), lr=c.lr, weight_decay=1e-4)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, c.steps)
    avg = 0.0
    for step in range(1, c.steps + 1):
        x0 = data[torch.randint(len(data), (c.batch,))]
        t = torch.randint(c.T, (c.batch,))
        eps = torch.randn_like(x0)
        loss = (model(dif.noise(x0, t, eps), t) - eps).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
        ema.update(model)
        avg += loss.item()
        if step % 500 == 0:
            gen = dif.sample(ema.shadow, 1000)
            print(f"step {step} loss {avg / 500:.4f} energy distance of samples {energy_distance(gen, held):.4f}")
            avg = 0.0
    base = energy_distance(torch.randn(1000, 2), held)
    print(f"(gaussian noise of the same scale: {base:.4f})")


if __name__ == "__main__":
    main()
