"""Denoising diffusion for sand grain measurements (length and width in micrometres)."""
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Settings:
    timesteps: int = 60
    beta_start: float = 1e-3
    beta_end: float = 0.2
    hidden: int = 96
    steps: int = 1200
    batch: int = 128
    lr: float = 2e-3
    seed: int = 0


def grains(n, gen):
    """three quarries: fine and round, coarse and round, long and thin"""
    which = torch.randint(3, (n,), generator=gen)
    mean = torch.tensor([[180.0, 150.0], [420.0, 360.0], [480.0, 140.0]])[which]
    wobble = torch.randn(n, 2, generator=gen) * torch.tensor([30.0, 18.0])
    return mean + wobble


class NoiseNet(nn.Module):
    def __init__(self, cfg: Settings):
        super().__init__()
        self.time = nn.Embedding(cfg.timesteps, 32)
        self.net = nn.Sequential(
            nn.Linear(2 + 32, cfg.hidden), nn.SiLU(),
            nn.Linear(cfg.hidden, cfg.hidden), nn.SiLU(),
            nn.Linear(cfg.hidden, 2),
        )

    def forward(self, x, t):
        return self.net(torch.cat([x, self.time(t)], dim=1))


class Diffusion:
    def __init__(self, cfg: Settings):
        self.cfg = cfg
        self.beta = torch.linspace(cfg.beta_start, cfg.beta_end, cfg.timesteps)
        self.alpha = 1 - self.beta
        self.bar = torch.cumprod(self.alpha, 0)

    def corrupt(self, x0, t):
        eps = torch.randn_like(x0)
        ab = self.bar[t].unsqueeze(1)
        return ab.sqrt() * x0 + (1 - ab).sqrt() * eps, eps

    @torch.no_grad()
    def sample(self, net, n):
        x = torch.randn(n, 2)
        for t in reversed(range(self.cfg.timesteps)):
            eps = net(x, torch.full((n,), t))
            x = (x - self.beta[t] / (1 - self.bar[t]).sqrt() * eps) / self.alpha[t].sqrt()
            if t > 0:
                x = x + self.beta[t].sqrt() * torch.randn_like(x)
        return x


def mismatch(a, b):
    """energy distance after scaling by the real spread"""
    s = b.std(0)
    a, b = a / s, b / s
    return (2 * torch.cdist(a, b).mean() - torch.cdist(a, a).mean() - torch.cdist(b, b).mean()).item()


def main():
    cfg = Settings()
    torch.manual_seed(cfg.seed)
    gen = torch.Generator().manual_seed(3)
    data, held_out = grains(5000, gen), grains(1500, gen)
    diffusion, net = Diffusion(cfg), NoiseNet(cfg)
    opt = torch.optim.Adam(net.parameters(), lr=cfg.lr)
    for step in range(1, cfg.steps + 1):
        x0 = data[torch.randint(len(data), (cfg.batch,))]
        t = torch.randint(cfg.timesteps, (cfg.batch,))
        xt, eps = diffusion.corrupt(x0, t)
        loss = nn.functional.mse_loss(net(xt, t), eps)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 300 == 0:
            print(f"step {step} loss {loss.item():.4f}")
    out = diffusion.sample(net, 1500)
    print("mean of the samples", out.mean(0).tolist(), "spread", out.std(0).tolist())
    print(f"mismatch {mismatch(out, held_out):.4f}")


if __name__ == "__main__":
    main()
