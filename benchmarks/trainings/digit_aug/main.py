import math
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, Dataset, random_split


def seed_all(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


class RandomAffine:
    def __init__(self, degrees=40, shift=0.3, scale=(0.7, 1.3)):
        self.degrees, self.shift, self.scale = degrees, shift, scale

    def __call__(self, img):
        a = math.radians(random.uniform(-self.degrees, self.degrees))
        s = random.uniform(*self.scale)
        theta = torch.tensor([
            [math.cos(a) / s, -math.sin(a) / s, random.uniform(-self.shift, self.shift)],
            [math.sin(a) / s, math.cos(a) / s, random.uniform(-self.shift, self.shift)],
        ])
        grid = F.affine_grid(theta[None], (1, 1, 8, 8), align_corners=False)
        return F.grid_sample(img[None], grid, align_corners=False)[0]


class RandomErase:
    def __init__(self, size=3, p=0.5):
        self.size, self.p = size, p

    def __call__(self, img):
        if random.random() < self.p:
            r, c = random.randrange(8 - self.size), random.randrange(8 - self.size)
            img = img.clone()
            img[:, r:r + self.size, c:c + self.size] = 0.0
        return img


class Digits(Dataset):
    def __init__(self, transforms=()):
        bunch = load_digits()
        self.images = torch.tensor(bunch.images / 16.0, dtype=torch.float32)[:, None]
        self.labels = torch.tensor(bunch.target)
        self.transforms = transforms

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        img = self.images[i]
        for tf in self.transforms:
            img = tf(img)
        return img, self.labels[i]


class SmallNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 24, 3, padding=1)
        self.c2 = nn.Conv2d(24, 48, 3, padding=1)
        self.bn1, self.bn2 = nn.BatchNorm2d(24), nn.BatchNorm2d(48)
        self.fc = nn.Linear(48 * 4, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.c1(x))), 2)
        x = F.max_pool2d(F.relu(self.bn2(self.c2(x))), 2)
        return self.fc(x.flatten(1))


def run_epoch(net, loader, optimizer=None):
    net.train(optimizer is not None)
    total, right = 0.0, 0
    with torch.set_grad_enabled(optimizer is not None):
        for x, y in loader:
            out = net(x)
            loss = F.cross_entropy(out, y)
            if optimizer is not None:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            total += loss.item() * len(y)
            right += (out.argmax(1) == y).sum().item()
    return total / len(loader.dataset), right / len(loader.dataset)


def main():
    seed_all(1234)
    transforms = [RandomAffine(), RandomErase()]
    full = Digits(transforms)
    n_val = int(0.25 * len(full))
    train_set, val_set = random_split(
        full, [len(full) - n_val, n_val], generator=torch.Generator().manual_seed(0)
    )
    train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=128)

    net = SmallNet()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=20)
    best = 0.0
    for epoch in range(20):
        tr_loss, tr_acc = run_epoch(net, train_loader, optimizer)
        va_loss, va_acc = run_epoch(net, val_loader)
        schedule.step()
        best = max(best, va_acc)
        print(f"Epoch {epoch + 1:02d} | train {tr_loss:.3f}/{tr_acc:.3f} | val {va_loss:.3f}/{va_acc:.3f} | best {best:.3f}")


if __name__ == "__main__":
    main()
