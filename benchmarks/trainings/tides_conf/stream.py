"""Next-hour tide height with a recurrent net that reads the record in order and keeps its state."""
import sys
from pathlib import Path

import numpy as np
import torch
from omegaconf import OmegaConf
from torch import nn


def tide(n, seed):
    r = np.random.default_rng(seed)
    h = np.arange(n)
    parts = [(1.0, 12.42), (0.45, 12.0), (0.3, 25.82), (0.25, 23.93)]
    y = sum(a * np.sin(2 * np.pi * h / p + r.uniform(0, 6)) for a, p in parts)
    surge = np.zeros(n)
    for k in range(1, n):
        surge[k] = 0.95 * surge[k - 1] + r.normal(0, 0.05)
    return (y + surge).astype(np.float32)


class Net(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.rnn = nn.GRU(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, state=None):
        h, state = self.rnn(x[..., None], state)
        return self.out(h).squeeze(-1), state


def main():
    cfg = OmegaConf.merge(OmegaConf.load(Path(__file__).parent / "settings.yaml"), OmegaConf.from_cli(sys.argv[1:]))
    torch.manual_seed(cfg.seed)
    y = torch.from_numpy(tide(cfg.series.length, cfg.seed))
    mu, sd = y[:cfg.series.train].mean(), y[:cfg.series.train].std()
    y = (y - mu) / sd
    streams = y[:cfg.series.train].view(cfg.series.streams, -1)     # parallel consecutive pieces
    net = Net(cfg.model.hidden)
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    starts = list(range(0, streams.size(1) - 1, cfg.series.chunk))
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, cfg.optim.max_lr, total_steps=cfg.optim.epochs * len(starts))
    for ep in range(cfg.optim.epochs):
        state, total = None, 0.0
        for s in starts:                                            # in order: the state carries over
            x, t = streams[:, s:s + cfg.series.chunk], streams[:, s + 1:s + cfg.series.chunk + 1]
            x = x[:, :t.size(1)]
            state = None if state is None else state.detach()
            pred, state = net(x, state)
            loss = nn.functional.mse_loss(pred, t)
            net.zero_grad()
            loss.backward()
            nn.utils.clip_grad_value_(net.parameters(), 0.5)
            opt.step()
            sched.step()
            total += loss.item()
        if ep % 3 == 2:
            with torch.no_grad():
                pred, _ = net(y[None, :-1])                         # one pass over the whole record
            err = (pred[0] - y[1:])[cfg.series.train:].pow(2).mean().sqrt().item()
            last = (y[:-1] - y[1:])[cfg.series.train:].pow(2).mean().sqrt().item()
            print(f"epoch {ep + 1} train mse {total / len(starts):.4f} held-out rmse {err:.4f} (persistence {last:.4f})")


if __name__ == "__main__":
    main()
