"""Class-conditional diffusion on 2-D blobs with classifier-free guidance and an EMA copy for sampling."""
import copy
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

N_CLASSES, T, STEPS, BATCH, DROP_LABEL = 4, 40, 1800, 256, 0.1
CENTRES = torch.tensor([[1.5, 1.5], [-1.5, 1.5], [-1.5, -1.5], [1.5, -1.5]])


def sample_data(n):
    label = torch.randint(0, N_CLASSES, (n,))
    return CENTRES[label] + 0.15 * torch.randn(n, 2), label


def cosine_alpha_bar():
    s = 0.008
    t = torch.linspace(0, 1, T + 1)
    f = torch.cos((t + s) / (1 + s) * math.pi / 2) ** 2
    betas = (1 - f[1:] / f[:-1]).clamp(max=0.95)
    return betas, torch.cumprod(1 - betas, 0)


BETAS, ALPHA_BAR = cosine_alpha_bar()


class Score(nn.Module):
    def __init__(self, hidden=96):
        super().__init__()
        self.time = nn.Embedding(T, 32)
        self.label = nn.Embedding(N_CLASSES + 1, 32)
        self.net = nn.Sequential(
            nn.Linear(2 + 64, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, 2)
        )

    def forward(self, x, t, label):
        return self.net(torch.cat([x, self.time(t), self.label(label)], dim=1))


@torch.no_grad()
def generate(net, label, guidance=1.0):
    n = len(label)
    x, empty = torch.randn(n, 2), torch.full((n,), N_CLASSES)
    for i in reversed(range(T)):
        t = torch.full((n,), i)
        eps_c, eps_u = net(x, t, label), net(x, t, empty)
        eps = eps_u + (1 + guidance) * (eps_c - eps_u)
        mean = (x - BETAS[i] / (1 - ALPHA_BAR[i]).sqrt() * eps) / (1 - BETAS[i]).sqrt()
        x = mean + (BETAS[i].sqrt() * torch.randn_like(x) if i else 0.0)
    return x


def hit_rate(net):
    label = torch.arange(N_CLASSES).repeat_interleave(100)
    x = generate(net, label)
    return ((x - CENTRES[label]).norm(dim=1) < 0.6).float().mean().item()


def main():
    torch.manual_seed(70)
    net = Score()
    ema = copy.deepcopy(net).requires_grad_(False)
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, STEPS, eta_min=1e-4)
    running = 0.0
    for step in range(1, STEPS + 1):
        x0, label = sample_data(BATCH)
        label = torch.where(torch.rand(BATCH) < DROP_LABEL, torch.full_like(label, N_CLASSES), label)
        t = torch.randint(0, T, (BATCH,))
        eps = torch.randn_like(x0)
        ab = ALPHA_BAR[t].unsqueeze(1)
        loss = F.mse_loss(net(ab.sqrt() * x0 + (1 - ab).sqrt() * eps, t, label), eps)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        with torch.no_grad():
            for a, b in zip(ema.parameters(), net.parameters()):
                a.lerp_(b, 0.01)
        running += loss.item()
        if step % 300 == 0:
            print(f"step {step} loss {running / 300:.4f} samples at their class {hit_rate(ema):.3f}")
            running = 0.0


if __name__ == "__main__":
    main()
