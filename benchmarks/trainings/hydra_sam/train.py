"""Noisy two-spiral arms (three of them), MLP with SAM; configured and instantiated by hydra."""
import hydra
import torch
import torch.nn.functional as F
from hydra.utils import instantiate
from torch import nn

from sam import SAM


def spirals(n, arms=3, jitter=0.08):
    k = torch.randint(arms, (n,))
    r = torch.rand(n).sqrt() * 0.9 + 0.1
    a = r * 5.0 + k * (2 * torch.pi / arms) + torch.randn(n) * jitter
    x = torch.stack([r * a.cos(), r * a.sin()], 1)
    return torch.cat([x, torch.sin(4 * x), torch.cos(4 * x)], 1), k


def corrupt(y, p, arms=3):
    flip = torch.rand(len(y)) < p
    return torch.where(flip, (y + torch.randint(1, arms, y.shape)) % arms, y)


@hydra.main(version_base="1.3", config_path="config", config_name="main")
def main(cfg):
    torch.manual_seed(cfg.seed)
    x, clean = spirals(3000)
    y = corrupt(clean, cfg.label_noise)              # only the training labels are noisy
    xt, yt = spirals(1000)
    net = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))
    base = instantiate(cfg.optim.base, params=net.parameters())
    opt = SAM(base, cfg.optim.rho)
    steps = cfg.epochs * (len(x) // cfg.batch)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(base, steps)

    def objective(b):
        return F.cross_entropy(net(x[b]), y[b], label_smoothing=0.1)

    for epoch in range(cfg.epochs):
        net.train()
        total, n = 0.0, 0
        for b in torch.randperm(len(x)).split(cfg.batch):
            if len(b) < cfg.batch:
                continue
            loss = objective(b)
            loss.backward()
            opt.ascend()
            objective(b).backward()
            opt.descend()
            sched.step()
            total, n = total + loss.item(), n + 1
        net.eval()
        with torch.no_grad():
            train_clean = (net(x).argmax(1) == clean).float().mean()
            acc = (net(xt).argmax(1) == yt).float().mean()
        print(f"epoch {epoch + 1:2d} loss {total / n:.4f} lr {sched.get_last_lr()[0]:.4f} "
              f"acc vs clean train labels {train_clean:.3f} test acc {acc:.3f}")


if __name__ == "__main__":
    main()
