"""Forecast many drifting sensor channels at once. Each window is normalised by its own statistics
(which are undone on the output), targets are differences and often negative, missing readings are masked."""
import numpy as np
import torch
from torch import nn

SEED, L, H = 19, 64, 8
np.random.seed(SEED)
torch.manual_seed(SEED)


def channels(n_series, length):
    t = np.arange(length)
    out = []
    for _ in range(n_series):
        level = np.cumsum(np.random.normal(0, 0.05, length)) - np.random.uniform(0, 60)
        period, amp = np.random.choice([8, 12, 16]), np.random.uniform(0.5, 4)
        wave = amp * np.sin(2 * np.pi * t / period + np.random.uniform(0, 6.28))
        out.append(level + wave + np.random.normal(0, 0.15 * amp, length))
    return np.stack(out).astype("float32")


class RevNorm(nn.Module):
    """Normalise by the observed part of the window; keep the statistics to undo it."""

    def __init__(self, eps=1e-4):
        super().__init__()
        self.eps = eps

    def norm(self, x, seen):
        n = seen.sum(1, keepdim=True).clamp(min=1)
        self.mu = (x * seen).sum(1, keepdim=True) / n
        self.sd = ((((x - self.mu) * seen) ** 2).sum(1, keepdim=True) / n + self.eps).sqrt()
        return (x - self.mu) / self.sd * seen

    def denorm(self, y):
        return y * self.sd + self.mu


class TCN(nn.Module):
    def __init__(self, ch=24):
        super().__init__()
        self.rev = RevNorm()
        self.inp = nn.Conv1d(2, ch, 1)
        self.layers = nn.ModuleList(nn.Conv1d(ch, 2 * ch, 3, dilation=d) for d in (1, 2, 4, 8, 16))
        self.out = nn.Linear(ch, H)

    def forward(self, x, seen):
        z = self.rev.norm(x, seen)
        h = self.inp(torch.stack([z, seen], 1))
        for conv in self.layers:
            pad = 2 * conv.dilation[0]
            h = h + nn.functional.glu(conv(nn.functional.pad(h, (pad, 0))), dim=1)
        return self.rev.denorm(self.out(h[:, :, -1]))


def windows(data, n, rng):
    rows = rng.integers(0, data.shape[0], n)
    starts = rng.integers(0, data.shape[1] - L - H, n)
    block = np.stack([data[r, s:s + L + H] for r, s in zip(rows, starts)])
    seen = (rng.random((n, L)) > 0.1).astype("float32")
    x = torch.from_numpy(block[:, :L] * seen)
    return x, torch.from_numpy(seen), torch.from_numpy(block[:, L:])


data = channels(60, 700)
past, future = data[:, :520], data[:, 520:]
rng = np.random.default_rng(0)
test = windows(future, 600, np.random.default_rng(1))
model = TCN()
opt = torch.optim.AdamW(model.parameters(), lr=5e-3)
ROUNDS, PER = 10, 45
sched = torch.optim.lr_scheduler.LinearLR(opt, 1.0, 0.05, total_iters=ROUNDS * PER)

for r in range(ROUNDS):
    model.train()
    total = 0.0
    for _ in range(PER):
        x, seen, y = windows(past, 64, rng)
        pred = model(x, seen)
        loss = ((pred - y) / model.rev.sd).abs().mean()      # scaled absolute error
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        x, seen, y = test
        mae = (model(x, seen) - y).abs().mean().item()
        base = (model.rev.mu - y).abs().mean().item()
    print(f"round {r + 1:2d} scaled L1 {total / PER:.3f} | test MAE {mae:.3f} (window mean {base:.3f})")
