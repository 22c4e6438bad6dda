"""Three-arm spiral with warm restarts; gradients summed over four micro-batches, optional bf16 autocast."""
import math
import time
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class A:
    n: int = 3000
    micro: int = 50
    accum: int = 4
    cycles: int = 4
    epochs_per_cycle: int = 6
    lr_max: float = 0.5
    lr_min: float = 0.002
    amp: bool = False
    seed: int = 0


def spiral(n, gen):
    k = torch.randint(3, (n,), generator=gen)
    t = torch.rand(n, generator=gen).sqrt() * 2.2
    ang = t * 2.6 + k * 2 * math.pi / 3
    pts = torch.stack([t * ang.cos(), t * ang.sin()], 1) + 0.06 * torch.randn(n, 2, generator=gen)
    return pts, k


def main():
    a = A()
    torch.manual_seed(a.seed)
    gen = torch.Generator().manual_seed(a.seed)
    x, y = spiral(a.n, gen)
    xv, yv = spiral(800, gen)
    net = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.LayerNorm(64), nn.Linear(64, 64), nn.ReLU(), nn.LayerNorm(64), nn.Linear(64, 3))
    opt = torch.optim.SGD(net.parameters(), lr=a.lr_max, nesterov=True, momentum=0.8)
    per_epoch = a.n // (a.micro * a.accum)
    sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=a.epochs_per_cycle * per_epoch, eta_min=a.lr_min)
    start = time.time()
    opt.zero_grad()
    micro_step = 0
    for epoch in range(a.cycles * a.epochs_per_cycle):
        net.train()
        total = 0.0
        perm = torch.randperm(a.n)
        for idx in perm.split(a.micro):
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=a.amp):
                out = net(x[idx])
            loss = nn.functional.cross_entropy(out.float(), y[idx])
            (loss / a.accum).backward()
            total += loss.item() * len(idx)
            micro_step += 1
            if micro_step % a.accum:
                continue
            opt.step()
            opt.zero_grad()
            sched.step()
        if (epoch + 1) % a.epochs_per_cycle in (0, 1):
            net.eval()
            with torch.no_grad():
                acc = (net(xv).argmax(1) == yv).float().mean().item()
            print(f"epoch {epoch + 1:2d} lr {opt.param_groups[0]['lr']:.4f} train loss {total / a.n:.4f} val acc {acc:.4f}")
    print(f"done in {time.time() - start:.1f}s")


if __name__ == "__main__":
    main()
