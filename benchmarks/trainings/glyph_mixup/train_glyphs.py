"""Digit glyphs with mixup, label smoothing and random shifts: training loss stays high, validation is clean."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, Dataset

EPOCHS, BATCH, ALPHA, SMOOTHING = 15, 64, 0.3, 0.1


class Glyphs(Dataset):
    def __init__(self, images, labels, augment):
        self.images, self.labels, self.augment = images, labels, augment

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        img = self.images[i]
        if self.augment:
            dy, dx = torch.randint(-1, 2, (2,)).tolist()
            img = torch.roll(img, (dy, dx), dims=(1, 2))
        return img, self.labels[i]


class GlyphNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1, self.b1 = nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16)
        self.c2, self.b2 = nn.Conv2d(16, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32)
        self.fc = nn.Linear(32 * 4, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.b1(self.c1(x))), 2)
        x = F.max_pool2d(F.relu(self.b2(self.c2(x))), 2)
        return self.fc(x.flatten(1))


def mixup(x, y, rng):
    lam = rng.beta(ALPHA, ALPHA)
    other = torch.randperm(len(x))
    return lam * x + (1 - lam) * x[other], y, y[other], lam


@torch.no_grad()
def validate(model, loader):
    model.eval()
    hits, loss = 0, 0.0
    for x, y in loader:
        out = model(x)
        hits += (out.argmax(1) == y).sum().item()
        loss += F.cross_entropy(out, y, reduction="sum").item()
    return hits / len(loader.dataset), loss / len(loader.dataset)


def main():
    torch.manual_seed(91)
    rng = np.random.default_rng(91)
    x, y = load_digits(return_X_y=True)
    x = torch.tensor(x / 16.0, dtype=torch.float32).view(-1, 1, 8, 8)
    y = torch.tensor(y)
    tr, va = train_test_split(np.arange(len(y)), test_size=0.25, stratify=y, random_state=91)
    train_loader = DataLoader(Glyphs(x[tr], y[tr], True), BATCH, shuffle=True, drop_last=True)
    val_loader = DataLoader(Glyphs(x[va], y[va], False), 256)
    model = GlyphNet()
    opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4, nesterov=True)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, EPOCHS)
    for epoch in range(EPOCHS):
        model.train()
        total = 0.0
        for xb, yb in train_loader:
            xm, ya, yo, lam = mixup(xb, yb, rng)
            out = model(xm)
            loss = lam * F.cross_entropy(out, ya, label_smoothing=SMOOTHING) + (1 - lam) * F.cross_entropy(out, yo, label_smoothing=SMOOTHING)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        sched.step()
        acc, val_loss = validate(model, val_loader)
        print(f"epoch {epoch + 1:2d} mixup loss {total / len(train_loader):.4f} val loss {val_loss:.4f} val acc {acc:.4f}")


if __name__ == "__main__":
    main()
