"""Fabric kinds with few labels: pre-train on plenty of labelled weaves, then train a head on top.

The pre-training checkpoint is kept in memory the way it would be saved by a wrapped model.
"""
import io

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(6)


def weaves(n, n_kinds, seed):
    """16x16 line patterns; the kind sets period and angle."""
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:16, 0:16]
    kind = rng.integers(0, n_kinds, n)
    angle = np.pi * (kind % 6) / 6 + rng.normal(0, 0.05, n)
    period = np.where(kind < 6, 3.0, 5.0)
    phase = rng.uniform(0, 2 * np.pi, n)
    proj = xx[None] * np.cos(angle)[:, None, None] + yy[None] * np.sin(angle)[:, None, None]
    img = np.sin(2 * np.pi * proj / period[:, None, None] + phase[:, None, None])
    img = img + rng.normal(0, 0.7, img.shape)
    return torch.tensor(img[:, None], dtype=torch.float32), torch.from_numpy(kind)


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 5, padding=2)
        self.conv2 = nn.Conv2d(16, 24, 3, stride=2, padding=1)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        return x.mean(dim=(2, 3))


class WeaveModel(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.backbone = Backbone()
        self.head = nn.Linear(24, n_out)

    def forward(self, x):
        return self.head(self.backbone(x))


def run_epoch(model, x, y, opt, batch=64):
    model.train()
    total = 0.0
    perm = torch.randperm(len(x))
    for i in range(0, len(x), batch):
        j = perm[i:i + batch]
        loss = F.cross_entropy(model(x[j]), y[j])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(j)
    return total / len(x)


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


def pretrain():
    x, y = weaves(2500, 12, seed=1)
    model = WeaveModel(12)
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(10):
        loss = run_epoch(model, x, y, opt)
        print(f"pretrain epoch {epoch} loss {loss:.4f}")
    wrapped = nn.DataParallel(model)
    buffer = io.BytesIO()
    torch.save({"state_dict": wrapped.state_dict(), "epoch": 10}, buffer)
    buffer.seek(0)
    return buffer


def main():
    checkpoint = torch.load(pretrain(), map_location="cpu")
    model = WeaveModel(12)
    state = {k: v for k, v in checkpoint["state_dict"].items() if "head" not in k}
    model.load_state_dict(state, strict=False)
    print(f"loaded checkpoint of epoch {checkpoint['epoch']}")
    for p in model.backbone.parameters():
        p.requires_grad = False

    x_few, y_few = weaves(240, 12, seed=2)
    x_val, y_val = weaves(600, 12, seed=3)
    opt = torch.optim.Adam(model.head.parameters(), lr=2e-2)
    for epoch in range(30):
        loss = run_epoch(model, x_few, y_few, opt, batch=32)
        if epoch % 5 == 4:
            print(f"finetune epoch {epoch:2d} loss {loss:.4f} train acc {accuracy(model, x_few, y_few):.3f} val acc {accuracy(model, x_val, y_val):.3f}")


if __name__ == "__main__":
    main()
