from dataclasses import dataclass

import numpy as np
import torch
from torch import nn


@dataclass(frozen=True)
class Opt:
    n_train: int = 1500
    n_test: int = 400
    side: int = 16
    patch: int = 4
    dim: int = 48
    depth: int = 2
    epochs: int = 12
    bs: int = 50
    lr: float = 2e-3
    smoothing: float = 0.1


def draw(kind, side, r):
    yy, xx = np.mgrid[:side, :side].astype(float)
    cy, cx, s = r.uniform(6, 10), r.uniform(6, 10), r.uniform(3, 5)
    u, v = yy - cy, xx - cx
    if kind == 0:
        m = np.hypot(u, v) < s
    elif kind == 1:
        m = np.maximum(abs(u), abs(v)) < s * 0.9
    elif kind == 2:
        m = (abs(u) < 1.2) & (abs(v) < s) | (abs(v) < 1.2) & (abs(u) < s)
    else:
        m = abs(np.hypot(u, v) - s) < 1.0
    return m + r.normal(0, 0.25, (side, side))


def dataset(n, o, seed):
    r = np.random.default_rng(seed)
    y = r.integers(0, 4, n)
    x = np.stack([draw(k, o.side, r) for k in y])
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y)


class Layer(nn.Module):
    """Works on (tokens, batch, dim), which is what MultiheadAttention takes by default."""

    def __init__(self, d):
        super().__init__()
        self.a, self.b = nn.LayerNorm(d), nn.LayerNorm(d)
        self.mha = nn.MultiheadAttention(d, 4)
        self.ff = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))

    def forward(self, x):
        h = self.a(x)
        x = x + self.mha(h, h, h)[0]
        return x + self.ff(self.b(x))


class Model(nn.Module):
    def __init__(self, o):
        super().__init__()
        self.o = o
        n = (o.side // o.patch) ** 2
        self.proj = nn.Linear(o.patch ** 2, o.dim)
        self.pos = nn.Parameter(torch.randn(n + 1, 1, o.dim) * 0.02)
        self.cls = nn.Parameter(torch.zeros(1, 1, o.dim))
        self.layers = nn.ModuleList(Layer(o.dim) for _ in range(o.depth))
        self.head = nn.Sequential(nn.LayerNorm(o.dim), nn.Linear(o.dim, 4))

    def forward(self, img):
        p = self.o.patch
        x = img.unfold(1, p, p).unfold(2, p, p).flatten(3).flatten(1, 2)
        x = self.proj(x).transpose(0, 1)
        x = torch.cat([self.cls.expand(-1, x.size(1), -1), x]) + self.pos
        for layer in self.layers:
            x = layer(x)
        return self.head(x[0])


def main(o=Opt()):
    torch.manual_seed(0)
    x, y = dataset(o.n_train, o, 1)
    xt, yt = dataset(o.n_test, o, 2)
    model = Model(o)
    opt = torch.optim.AdamW(model.parameters(), lr=o.lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, o.epochs)
    ce = nn.CrossEntropyLoss(label_smoothing=o.smoothing)
    for ep in range(o.epochs):
        model.train()
        losses = []
        # the rows were drawn independently, so their order is already random
        for xb, yb in zip(x.split(o.bs), y.split(o.bs)):
            opt.zero_grad()
            loss = ce(model(xb), yb)
            loss.backward()
            opt.step()
            losses.append(loss.item())
        sched.step()
        model.eval()
        with torch.no_grad():
            acc = (model(xt).argmax(-1) == yt).float().mean().item()
        print(f"{ep + 1:2d} loss {np.mean(losses):.3f} test acc {acc:.3f}")


if __name__ == "__main__":
    main()
