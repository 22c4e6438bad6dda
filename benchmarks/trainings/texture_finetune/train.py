"""Pretrain a small convnet on four textures, then fine-tune its head on three new ones with few examples."""
import math
import time

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(23)
SIDE = 14


def texture(kind, n):
    yy, xx = torch.meshgrid(torch.arange(SIDE).float(), torch.arange(SIDE).float(), indexing="ij")
    ph = torch.rand(n, 1, 1) * 2 * math.pi
    jitter = 1 + 0.1 * torch.randn(n, 1, 1)
    if kind == "horizontal":
        img = torch.sin(1.6 * jitter * yy + ph)
    elif kind == "vertical":
        img = torch.sin(1.6 * jitter * xx + ph)
    elif kind == "checker":
        img = torch.sin(1.3 * jitter * xx + ph) * torch.sin(1.3 * yy + ph)
    elif kind == "rings":
        img = torch.sin(1.5 * jitter * torch.hypot(xx - 7, yy - 7) + ph)
    elif kind == "diagonal":
        img = torch.sin(1.1 * jitter * (xx + yy) + ph)
    elif kind == "antidiagonal":
        img = torch.sin(1.1 * jitter * (xx - yy) + ph)
    elif kind == "blobs":
        img = F.avg_pool2d(torch.randn(n, 1, SIDE + 4, SIDE + 4), 5, 1)[:, 0] * 4
    else:
        raise KeyError(kind)
    return (img + 0.4 * torch.randn(n, SIDE, SIDE))[:, None]


def dataset(kinds, per_class):
    x = torch.cat([texture(k, per_class) for k in kinds])
    y = torch.arange(len(kinds)).repeat_interleave(per_class)
    order = torch.randperm(len(y))
    return x[order], y[order]


class TextureNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
            nn.Flatten(),
        )
        self.head = nn.Linear(128, classes)

    def forward(self, x):
        return self.head(self.features(x))

    def replace_head(self, classes):
        self.head = nn.Sequential(nn.LayerNorm(128), nn.Linear(128, 32), nn.GELU(), nn.Linear(32, classes))


def run_epochs(model, opt, train, test, epochs, tag):
    (x, y), (xt, yt) = train, test
    for ep in range(1, epochs + 1):
        t0 = time.time()
        model.train()
        losses = []
        for idx in torch.randperm(len(y)).split(32):
            loss = F.cross_entropy(model(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        model.eval()
        with torch.no_grad():
            acc = (model(xt).argmax(1) == yt).float().mean().item()
        if ep % max(1, epochs // 6) == 0:
            print(f"{tag} {ep:2d}/{epochs} loss {sum(losses) / len(losses):.4f} test acc {acc:.3f} ({time.time() - t0:.1f}s)")


base_kinds = ["horizontal", "vertical", "checker", "rings"]
new_kinds = ["diagonal", "antidiagonal", "blobs"]

model = TextureNet(len(base_kinds))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
run_epochs(model, optimizer, dataset(base_kinds, 400), dataset(base_kinds, 100), 6, "pretrain")

for p in model.features.parameters():
    p.requires_grad = False
optimizer = torch.optim.Adam(model.head.parameters(), lr=3e-3)
model.replace_head(len(new_kinds))
run_epochs(model, optimizer, dataset(new_kinds, 60), dataset(new_kinds, 150), 30, "finetune")
