"""Texture classification (stripes, checks, dots, rings, gradients). Settings in config.yaml; override with key=value."""
import sys
from pathlib import Path

import numpy as np
import torch
from omegaconf import OmegaConf
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split
from tqdm import tqdm


def texture(kind, side, rng):
    yy, xx = np.mgrid[0:side, 0:side] / side
    f = rng.uniform(2, 4)
    a = rng.uniform(0, np.pi)
    u, v = xx * np.cos(a) + yy * np.sin(a), -xx * np.sin(a) + yy * np.cos(a)
    ph = rng.uniform(0, 2 * np.pi, 2)
    if kind == 0:
        return np.sin(2 * np.pi * f * u + ph[0])
    if kind == 1:
        return np.sign(np.sin(2 * np.pi * f * u + ph[0]) * np.sin(2 * np.pi * f * v + ph[1]))
    if kind == 2:
        return (np.sin(2 * np.pi * f * u + ph[0]) + np.sin(2 * np.pi * f * v + ph[1]) > 1.1) * 2.0 - 0.5
    if kind == 3:
        cx, cy = rng.uniform(0.2, 0.8, 2)
        return np.sin(2 * np.pi * f * np.hypot(xx - cx, yy - cy) + ph[0])
    return 2 * (u - u.mean())


def load(cfg):
    rng = np.random.default_rng(cfg.seed)
    y = rng.integers(0, 5, cfg.data.n)
    x = np.stack([texture(k, cfg.data.side, rng) for k in y])
    x = x + cfg.data.noise * rng.normal(size=x.shape)
    ds = TensorDataset(torch.tensor(x, dtype=torch.float32)[:, None], torch.tensor(y))
    n_val = cfg.data.n // 5
    return random_split(ds, [cfg.data.n - n_val, n_val], generator=torch.Generator().manual_seed(cfg.seed))


def conv(i, o, s):
    return nn.Sequential(nn.Conv2d(i, o, 3, stride=s, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


def build(w):
    return nn.Sequential(conv(1, w, 2), conv(w, 2 * w, 1), conv(2 * w, 2 * w, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2 * w, 5))


def main():
    cfg = OmegaConf.merge(OmegaConf.load(Path(__file__).with_name("config.yaml")), OmegaConf.from_cli(sys.argv[1:]))
    torch.manual_seed(cfg.seed)
    tr, va = load(cfg)
    tl = DataLoader(tr, cfg.train.batch_size, shuffle=True)
    vl = DataLoader(va, 200)
    net = build(cfg.model.width)
    opt = torch.optim.SGD(net.parameters(), lr=cfg.train.lr, momentum=cfg.train.momentum, weight_decay=cfg.train.weight_decay)
    sched = torch.optim.lr_scheduler.StepLR(opt, step_size=cfg.train.step_size, gamma=cfg.train.gamma)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(cfg.train.epochs):
        net.train()
        seen = 0.0
        for x, y in tqdm(tl, leave=False, mininterval=5):
            loss = loss_fn(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            seen += loss.item()
        net.eval()
        with torch.no_grad():
            acc = sum((net(x).argmax(1) == y).sum().item() for x, y in vl) / len(va)
        print(f"epoch {epoch + 1}/{cfg.train.epochs} loss {seen / len(tl):.3f} val acc {acc:.3f}")


if __name__ == "__main__":
    main()
