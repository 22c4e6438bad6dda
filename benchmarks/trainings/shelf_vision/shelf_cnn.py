"""Recognise products on a shelf (toy shapes) with a batch-normalised CNN."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

CLASSES = ["can", "box", "bag", "jar"]
SIZE = 12


def draw(kind, rng):
    img = np.zeros((SIZE, SIZE), dtype=np.float32)
    top, left = rng.integers(0, 4, 2)
    h, w = rng.integers(6, 9, 2)
    if kind == 0:
        img[top:top + h, left:left + w // 2] = 1
    elif kind == 1:
        img[top:top + h, left:left + w] = 1
        img[top + 2:top + h - 2, left + 2:left + w - 2] = 0.2
    elif kind == 2:
        for r in range(h):
            img[top + r, left:left + max(1, w * r // h)] = 1
    else:
        img[top:top + 2, left + 1:left + w - 1] = 0.5
        img[top + 2:top + h, left:left + w] = 1
    return img * rng.uniform(0.6, 1.2) + rng.normal(0, 0.25, img.shape) + rng.normal(0, 0.2)


def photo_shoot(per_class, seed):
    """Photos come in the order in which they were taken, one product after the other."""
    rng = np.random.default_rng(seed)
    images = [draw(k, rng) for k in range(len(CLASSES)) for _ in range(per_class)]
    labels = np.repeat(np.arange(len(CLASSES)), per_class)
    return torch.tensor(np.stack(images), dtype=torch.float32).unsqueeze(1), torch.from_numpy(labels)


def conv_bn(n_in, n_out, stride):
    return nn.Sequential(nn.Conv2d(n_in, n_out, 3, stride, 1, bias=False), nn.BatchNorm2d(n_out), nn.ReLU(inplace=True))


class ShelfNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(conv_bn(1, 12, 1), conv_bn(12, 24, 2), conv_bn(24, 32, 2))
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.drop = nn.Dropout(0.3)
        self.fc = nn.Linear(32, len(CLASSES))

    def forward(self, x):
        return self.fc(self.drop(self.pool(self.features(x)).flatten(1)))


def validate(model, loader, criterion):
    loss_sum, correct = 0.0, 0
    confusion = torch.zeros(len(CLASSES), len(CLASSES), dtype=torch.long)
    with torch.no_grad():
        for images, labels in loader:
            out = model(images)
            loss_sum += criterion(out, labels).item() * len(labels)
            pred = out.argmax(1)
            correct += (pred == labels).sum().item()
            for t, p in zip(labels, pred):
                confusion[t, p] += 1
    n = len(loader.dataset)
    return loss_sum / n, correct / n, confusion


def main():
    torch.manual_seed(64)
    train_loader = DataLoader(TensorDataset(*photo_shoot(250, 0)), batch_size=50, shuffle=True)
    val_loader = DataLoader(TensorDataset(*photo_shoot(80, 1)), batch_size=20)
    model = ShelfNet()
    criterion = nn.CrossEntropyLoss()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 12)
    model.train()
    for epoch in range(12):
        seen = hits = 0
        total = 0.0
        for images, labels in train_loader:
            opt.zero_grad()
            out = model(images)
            loss = criterion(out, labels)
            loss.backward()
            opt.step()
            total += loss.item() * len(labels)
            hits += (out.argmax(1) == labels).sum().item()
            seen += len(labels)
        sched.step()
        val_loss, val_acc, confusion = validate(model, val_loader, criterion)
        print(f"Epoch {epoch + 1:02d}: train loss {total / seen:.4f} acc {hits / seen:.3f} | val loss {val_loss:.4f} acc {val_acc:.3f}")
    print("confusion\n", confusion.numpy())


if __name__ == "__main__":
    main()
