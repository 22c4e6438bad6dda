"""RealNVP density model of pinched sensor pairs. Negative log likelihood per point; below zero is normal here."""
import math

import numpy as np
import torch
import torch.nn as nn

N_LAYERS, HIDDEN, STEPS, BATCH = 6, 40, 1200, 256


def sensor_pairs(n, seed):
    """A thin curved band: its log density is well above zero."""
    rng = np.random.default_rng(seed)
    a = rng.normal(0, 0.5, n)
    b = 0.6 * np.sin(3 * a) + rng.normal(0, 0.04, n)
    return torch.tensor(np.stack([a, b], axis=1), dtype=torch.float32)


class Coupling(nn.Module):
    def __init__(self, keep):
        super().__init__()
        self.keep, self.move = keep, 1 - keep
        self.net = nn.Sequential(nn.Linear(1, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, 2))
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, x):
        """Data to noise. Returns the new point and the log determinant."""
        kept, moved = x[:, self.keep:self.keep + 1], x[:, self.move:self.move + 1]
        log_scale, shift = self.net(kept).chunk(2, dim=1)
        log_scale = 2.5 * torch.tanh(log_scale)
        moved = (moved - shift) * torch.exp(log_scale)
        parts = [kept, moved] if self.keep == 0 else [moved, kept]
        return torch.cat(parts, dim=1), log_scale.squeeze(1)


class RealNVP(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Coupling(i % 2) for i in range(N_LAYERS))

    def log_prob(self, x):
        logdet = torch.zeros(len(x))
        for layer in self.layers:
            x, ld = layer(x)
            logdet = logdet + ld
        base = -0.5 * (x**2).sum(1) - math.log(2 * math.pi)
        return base + logdet


def true_nll(x):
    """Entropy rate of the simulation, for comparison."""
    a, b = x[:, 0], x[:, 1]
    lp = -0.5 * (a / 0.5) ** 2 - math.log(0.5) - 0.5 * ((b - 0.6 * torch.sin(3 * a)) / 0.04) ** 2 - math.log(0.04)
    return -(lp - math.log(2 * math.pi)).mean().item()


def main():
    torch.manual_seed(48)
    train, test = sensor_pairs(6000, 0), sensor_pairs(1500, 1)
    flow = RealNVP()
    opt = torch.optim.Adam(flow.parameters(), lr=3e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, STEPS)
    for step in range(1, STEPS + 1):
        batch = train[torch.randint(len(train), (BATCH,))]
        loss = -flow.log_prob(batch).mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(flow.parameters(), 5.0)
        opt.step()
        sched.step()
        if step % 200 == 0:
            with torch.no_grad():
                nll = -flow.log_prob(test).mean().item()
            print(f"step {step:4d} train nll {loss.item():+.4f} test nll {nll:+.4f} (best possible {true_nll(test):+.4f})")


if __name__ == "__main__":
    main()
