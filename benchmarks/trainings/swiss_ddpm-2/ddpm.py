"""DDPM on a flattened swiss roll (2-d points), noise prediction with 100 steps."""
import math

import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import make_swiss_roll

T = 100
BASE_LR = 2e-3
WARMUP = 150
STEPS = 3000
torch.manual_seed(15)
np.random.seed(15)

betas = torch.linspace(1e-3, 0.09, T)
alphas = 1.0 - betas
alpha_bar = torch.cumprod(alphas, dim=0)


def roll(n, seed):
    pts, _ = make_swiss_roll(n, noise=0.25, random_state=seed)
    pts = pts[:, [0, 2]]
    return torch.tensor(pts / 7.0, dtype=torch.float32)


class NoiseNet(nn.Module):
    def __init__(self, hidden=128, emb=32):
        super().__init__()
        self.time = nn.Embedding(T, emb)
        self.net = nn.Sequential(
            nn.Linear(2 + emb, hidden), nn.GELU(),
            nn.Linear(hidden, hidden), nn.GELU(),
            nn.Linear(hidden, hidden), nn.GELU(),
            nn.Linear(hidden, 2),
        )

    def forward(self, x, t):
        return self.net(torch.cat([x, self.time(t)], dim=-1))


def rate(step):
    if step < WARMUP:
        return BASE_LR * (step + 1) / WARMUP
    done = (step - WARMUP) / (STEPS - WARMUP)
    return BASE_LR * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * done)))


@torch.no_grad()
def generate(net, n):
    x = torch.randn(n, 2)
    for t in reversed(range(T)):
        eps = net(x, torch.full((n,), t))
        mean = (x - betas[t] / (1 - alpha_bar[t]).sqrt() * eps) / alphas[t].sqrt()
        x = mean + betas[t].sqrt() * torch.randn_like(x) if t > 0 else mean
    return x


def chamfer(a, b):
    d = torch.cdist(a, b)
    return 0.5 * (d.min(0).values.mean() + d.min(1).values.mean()).item()


def main():
    data, held = roll(10000, 1), roll(1500, 2)
    net = NoiseNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=BASE_LR)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lr_lambda=rate)

    window = []
    for step in range(STEPS):
        x0 = data[torch.randint(0, len(data), (192,))]
        t = torch.randint(0, T, (192,))
        noise = torch.randn_like(x0)
        ab = alpha_bar[t][:, None]
        loss = nn.functional.mse_loss(net(ab.sqrt() * x0 + (1 - ab).sqrt() * noise, t), noise)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        window.append(loss.item())
        if (step + 1) % 500 == 0:
            pts = generate(net, 1500)
            print(f"step {step + 1}: loss={np.mean(window):.4f} chamfer={chamfer(pts, held):.4f}", flush=True)
            window = []


if __name__ == "__main__":
    main()
