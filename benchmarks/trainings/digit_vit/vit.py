# tiny ViT on the 8x8 digits, 2x2 patches
from dataclasses import dataclass

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Config:
    patch: int = 2
    dim: int = 48
    depth: int = 2
    heads: int = 4
    mlp_ratio: int = 2
    dropout: float = 0.1
    n_classes: int = 10
    epochs: int = 10
    batch_size: int = 64
    lr: float = 2e-3
    weight_decay: float = 0.05
    seed: int = 7


class EncoderLayer(nn.Module):
    def __init__(self, c: Config):
        super().__init__()
        self.norm1 = nn.LayerNorm(c.dim)
        self.attn = nn.MultiheadAttention(c.dim, c.heads, dropout=c.dropout)
        self.norm2 = nn.LayerNorm(c.dim)
        self.ff = nn.Sequential(
            nn.Linear(c.dim, c.dim * c.mlp_ratio),
            nn.GELU(),
            nn.Dropout(c.dropout),
            nn.Linear(c.dim * c.mlp_ratio, c.dim),
        )

    def forward(self, x):
        h = self.norm1(x)
        x = x + self.attn(h, h, h, need_weights=False)[0]
        return x + self.ff(self.norm2(x))


class ViT(nn.Module):
    def __init__(self, c: Config, side=8):
        super().__init__()
        n = (side // c.patch) ** 2
        self.embed = nn.Conv2d(1, c.dim, c.patch, stride=c.patch)
        self.cls = nn.Parameter(torch.zeros(1, 1, c.dim))
        self.pos = nn.Parameter(torch.randn(1, n + 1, c.dim) * 0.02)
        self.layers = nn.Sequential(*[EncoderLayer(c) for _ in range(c.depth)])
        self.norm = nn.LayerNorm(c.dim)
        self.head = nn.Linear(c.dim, c.n_classes)

    def forward(self, img):
        x = self.embed(img).flatten(2).transpose(1, 2)          # (batch, patches, dim)
        x = torch.cat([self.cls.expand(len(x), -1, -1), x], dim=1) + self.pos
        x = self.norm(self.layers(x))
        return self.head(x[:, 0])


def data(c):
    d = load_digits()
    x = (d.images.astype(np.float32) / 16.0 - 0.3)[:, None]
    xtr, xva, ytr, yva = train_test_split(x, d.target, test_size=0.25, stratify=d.target, random_state=c.seed)
    mk = lambda a, b: TensorDataset(torch.from_numpy(a), torch.from_numpy(b).long())
    return mk(xtr, ytr), mk(xva, yva)


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    hit = tot = 0
    for xb, yb in loader:
        hit += (model(xb).argmax(1) == yb).sum().item()
        tot += len(yb)
    return hit / tot


def main(c=Config()):
    torch.manual_seed(c.seed)
    tr, va = data(c)
    tl = DataLoader(tr, c.batch_size, shuffle=True, drop_last=True)
    vl = DataLoader(va, 128)
    model = ViT(c)
    decay = [p for n, p in model.named_parameters() if p.ndim > 1 and n not in ("cls", "pos")]
    rest = [p for n, p in model.named_parameters() if p.ndim <= 1 or n in ("cls", "pos")]
    opt = torch.optim.AdamW([{"params": decay, "weight_decay": c.weight_decay}, {"params": rest, "weight_decay": 0.0}], lr=c.lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=c.epochs * len(tl))
    crit = nn.CrossEntropyLoss()
    for ep in range(1, c.epochs + 1):
        model.train()
        run = 0.0
        for xb, yb in tl:
            loss = crit(model(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            run += loss.item()
        print(f"epoch {ep:2d}  loss {run / len(tl):.3f}  val acc {accuracy(model, vl):.3f}")


if __name__ == "__main__":
    main()
