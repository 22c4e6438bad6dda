import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
from sklearn.datasets import load_digits

# Small vision transformer on 8x8 pictures, 2x2 patches -> 16 tokens

CFG = dict(dim=48, heads=4, depth=2, epochs=14, bs=64, lr=1.5e-3)


def patches(img, p=2):
    b, h, w = img.shape
    x = img.reshape(b, h // p, p, w // p, p).permute(0, 1, 3, 2, 4)
    return x.reshape(b, (h // p) * (w // p), p * p)


class EncoderBlock(nn.Module):
    def __init__(self, dim, heads, drop=0.1):
        super().__init__()
        self.n1 = nn.LayerNorm(dim)
        self.att = nn.MultiheadAttention(dim, heads, dropout=drop)
        self.n2 = nn.LayerNorm(dim)
        self.ff = nn.Sequential(nn.Linear(dim, dim * 2), nn.GELU(), nn.Dropout(drop), nn.Linear(dim * 2, dim))

    def forward(self, x):
        z = self.n1(x)
        a, _ = self.att(z, z, z, need_weights=False)
        x = x + a
        x = x + self.ff(self.n2(x))
        return x


class TinyViT(nn.Module):
    def __init__(self, dim, heads, depth, n_classes=10):
        super().__init__()
        self.embed = nn.Linear(4, dim)
        self.cls = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos = nn.Parameter(torch.randn(1, 17, dim) * 0.02)
        self.blocks = nn.Sequential(*[EncoderBlock(dim, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(dim)
        self.fc = nn.Linear(dim, n_classes)

    def forward(self, img):
        t = self.embed(patches(img))
        cls = self.cls.expand(t.size(0), -1, -1)
        t = torch.cat([cls, t], dim=1) + self.pos
        t = self.blocks(t)
        return self.fc(self.norm(t[:, 0]))


def get_loaders(bs):
    d = load_digits()
    x = torch.tensor(d.images / 16.0, dtype=torch.float32)
    y = torch.tensor(d.target)
    x = (x - 0.305) / 0.376
    g = torch.Generator().manual_seed(0)
    perm = torch.randperm(len(x), generator=g)
    tr, te = perm[:1400], perm[1400:]
    return (DataLoader(TensorDataset(x[tr], y[tr]), batch_size=bs, shuffle=True, drop_last=True),
            DataLoader(TensorDataset(x[te], y[te]), batch_size=bs))


@torch.inference_mode()
def validate(model, loader):
    model.eval()
    hit = n = 0
    for x, y in loader:
        hit += (model(x).argmax(-1) == y).sum().item()
        n += y.numel()
    return hit / n


def main():
    torch.manual_seed(0)
    np.random.seed(0)
    train_dl, test_dl = get_loaders(CFG["bs"])
    model = TinyViT(CFG["dim"], CFG["heads"], CFG["depth"])
    opt = torch.optim.AdamW(model.parameters(), lr=CFG["lr"], weight_decay=0.02)
    total = CFG["epochs"] * len(train_dl)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=CFG["lr"], total_steps=total, pct_start=0.1)
    loss_fn = nn.CrossEntropyLoss()
    for ep in range(CFG["epochs"]):
        model.train()
        agg = 0.0
        for x, y in train_dl:
            opt.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            opt.step()
            sched.step()
            agg += loss.item()
        if ep % 3 == 1 or ep == CFG["epochs"] - 1:
            print(f"ep {ep:02d} loss {agg / len(train_dl):.3f} acc {validate(model, test_dl):.3f}")


if __name__ == "__main__":
    main()
