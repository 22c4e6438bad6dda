"""Coordinate network: store one height map in the weights of a small sine network.

This is compression, not prediction: the net is fitted to the pixels of one map and scored on these very pixels
(PSNR on the training pixels is the figure of interest). As a side remark the every-fifth pixels that are left out
are scored too.
"""
import math
import sys

import numpy as np
import torch
from torch import nn

SIZE = 64


def height_map(seed=15):
    r = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:SIZE, 0:SIZE] / SIZE
    z = np.zeros((SIZE, SIZE))
    for _ in range(14):
        f, a, p = r.uniform(1, 7), r.uniform(0, 2 * np.pi), r.uniform(0, 2 * np.pi)
        z += np.cos(2 * np.pi * f * (xx * np.cos(a) + yy * np.sin(a)) + p) / f
    z += 0.8 * ((xx - 0.6) ** 2 + (yy - 0.4) ** 2 < 0.03)
    return ((z - z.min()) / (z.max() - z.min()) * 2 - 1).astype(np.float32)


class Sine(nn.Module):
    def __init__(self, i, o, w0=1.0, first=False):
        super().__init__()
        self.lin = nn.Linear(i, o)
        self.w0 = w0
        bound = 1 / i if first else math.sqrt(6 / i) / w0
        nn.init.uniform_(self.lin.weight, -bound, bound)

    def forward(self, x):
        return torch.sin(self.w0 * self.lin(x))


def siren(width=64):
    last = nn.Linear(width, 1)
    nn.init.uniform_(last.weight, -math.sqrt(6 / width) / 20, math.sqrt(6 / width) / 20)
    return nn.Sequential(Sine(2, width, 20.0, first=True), Sine(width, width, 20.0), Sine(width, width, 20.0), last)


def psnr(a, b):
    return 10 * math.log10(4 / torch.mean((a - b) ** 2).item())


def main(steps=500):
    torch.manual_seed(0)
    z = torch.from_numpy(height_map())
    g = torch.linspace(-1, 1, SIZE)
    coords = torch.stack(torch.meshgrid(g, g, indexing="ij"), -1).reshape(-1, 2)
    vals = z.reshape(-1, 1)
    left_out = torch.arange(len(vals)) % 5 == 3
    c_fit, v_fit = coords[~left_out], vals[~left_out]
    net = siren()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.9975)
    for step in range(1, steps + 1):
        out = net(c_fit)                       # all pixels at once, always in the same order
        loss = ((out - v_fit) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        if step % 100 == 0:
            with torch.no_grad():
                print(f"step {step} psnr stored pixels {psnr(net(c_fit), v_fit):.1f} dB, pixels left out {psnr(net(coords[left_out]), vals[left_out]):.1f} dB")
    flat = psnr(v_fit.mean().expand_as(vals[left_out]), vals[left_out])
    n = sum(p.numel() for p in net.parameters())
    print(f"constant map {flat:.1f} dB; {n} weights for {len(vals)} pixels")
    return 0


if __name__ == "__main__":
    sys.exit(main())
