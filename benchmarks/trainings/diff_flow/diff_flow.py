"""Flow matching (velocity prediction) for two moons, EMA weights for sampling, zero-initialised output layer."""
import copy
import math

import torch
import torch.nn.functional as F
from sklearn.datasets import make_moons
from torch import nn


def moons(n, seed):
    x, _ = make_moons(n, noise=0.05, random_state=seed)
    x = torch.tensor(x, dtype=torch.float32)
    return (x - torch.tensor([0.5, 0.25])) / 0.7


class FourierTime(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("freqs", 2 ** torch.arange(dim // 2).float() * math.pi)

    def forward(self, t):
        angle = t[:, None] * self.freqs
        return torch.cat([angle.sin(), angle.cos()], dim=1)


class Velocity(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.embed = FourierTime(8)
        self.net = nn.Sequential(
            nn.Linear(10, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU()
        )
        self.out = nn.Linear(width, 2)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, x, t):
        return self.out(self.net(torch.cat([x, self.embed(t)], dim=1)))


@torch.no_grad()
def integrate(model, n, steps=40):
    model.eval()
    x = torch.randn(n, 2)
    for i in range(steps):
        t = torch.full((n,), (i + 0.5) / steps)
        half = x + 0.5 / steps * model(x, torch.full((n,), i / steps))
        x = x + model(half, t) / steps
    return x


def energy_distance(a, b):
    return (2 * torch.cdist(a, b).mean() - torch.cdist(a, a).mean() - torch.cdist(b, b).mean()).item()


def main(steps=1000, batch=256):
    torch.manual_seed(1)
    data, held_out = moons(4000, 0), moons(1000, 1)
    model = Velocity()
    ema = copy.deepcopy(model).requires_grad_(False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    warmup = torch.optim.lr_scheduler.LinearLR(optimizer, 0.05, total_iters=100)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps - 100)
    scheduler = torch.optim.lr_scheduler.SequentialLR(optimizer, [warmup, cosine], [100])
    print(f"energy distance of pure noise {energy_distance(torch.randn(1000, 2), held_out):.4f}")
    for step in range(1, steps + 1):
        x1 = data[torch.randint(len(data), (batch,))]
        x0 = torch.randn_like(x1)
        t = torch.rand(batch)
        xt = (1 - t[:, None]) * x0 + t[:, None] * x1
        loss = F.mse_loss(model(xt, t), x1 - x0)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        with torch.no_grad():
            for e, p in zip(ema.parameters(), model.parameters()):
                e.lerp_(p, 0.01)
        if step % 250 == 0:
            print(f"step {step} loss {loss.item():.4f} energy distance {energy_distance(integrate(ema, 1000), held_out):.4f}")


if __name__ == "__main__":
    main()
