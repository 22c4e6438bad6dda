"""Two-moons diffusion with v-prediction, a cosine schedule and averaged weights."""
import math
from dataclasses import dataclass

import torch
from sklearn.datasets import make_moons
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn


@dataclass
class Settings:
    steps: int = 2600
    batch: int = 256
    lr: float = 2e-3
    width: int = 96
    sample_steps: int = 50
    seed: int = 8


def angles(t):
    """alpha = cos, sigma = sin: both follow from one angle."""
    phi = t * math.pi / 2 * 0.98 + 0.01
    return phi.cos(), phi.sin()


class Denoiser(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("freqs", 2.0 ** torch.arange(6))
        self.inp = nn.Linear(2 + 12, width)
        self.mid = nn.ModuleList([nn.Linear(width, width) for _ in range(3)])
        self.out = nn.Linear(width, 2)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, x, t):
        w = t[:, None] * self.freqs
        h = nn.functional.silu(self.inp(torch.cat([x, w.sin(), w.cos()], dim=1)))
        for layer in self.mid:
            h = h + nn.functional.silu(layer(h))
        return self.out(h)


def stratified_times(n):
    # one random offset for the whole batch, then an even grid: less noisy than rand(n)
    return (torch.rand(1) + torch.arange(n) / n) % 1.0


@torch.no_grad()
def sample(model, n, steps):
    x = torch.randn(n, 2)
    grid = torch.linspace(1, 0, steps + 1)
    for now, nxt in zip(grid[:-1], grid[1:]):
        a, s = angles(now)
        v = model(x, now.expand(n))
        x0, eps = a * x - s * v, s * x + a * v
        a2, s2 = angles(nxt)
        x = a2 * x0 + s2 * eps
    return x


def two_sample_energy(a, b):
    return (2 * torch.cdist(a, b).mean() - torch.cdist(a, a).mean() - torch.cdist(b, b).mean()).item()


def main(cfg):
    torch.manual_seed(cfg.seed)
    pts, _ = make_moons(8000, noise=0.05, random_state=cfg.seed)
    pts = torch.tensor(pts, dtype=torch.float32)
    pts = (pts - pts.mean(0)) / pts.std(0)
    train, held = pts[:6500], pts[6500:]

    model = Denoiser(cfg.width)
    ema = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.995))
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=1e-4)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, cfg.steps, eta_min=2e-5)
    print(f"energy distance of pure noise: {two_sample_energy(torch.randn(1500, 2), held):.4f}")

    running = 0.0
    for step in range(1, cfg.steps + 1):
        x0 = train[torch.randint(len(train), (cfg.batch,))]
        t = stratified_times(cfg.batch)
        alpha, sigma = angles(t[:, None])
        eps = torch.randn_like(x0)
        v = alpha * eps - sigma * x0
        loss = (model(alpha * x0 + sigma * eps, t) - v).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        ema.update_parameters(model)
        running += loss.item()
        if step % 325 == 0:
            ema.eval()
            dist = two_sample_energy(sample(ema, 1500, cfg.sample_steps), held)
            print(f"step {step} loss {running / 325:.4f} energy distance {dist:.5f}", flush=True)
            running = 0.0


if __name__ == "__main__":
    main(Settings())
