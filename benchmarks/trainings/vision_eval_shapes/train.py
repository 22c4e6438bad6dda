"""Shape recognition (disc, square, triangle, cross, ring) in small cluttered images."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

SHAPES = ["disc", "square", "triangle", "cross", "ring"]


def draw(shape, rng, size=18):
    cy, cx = rng.uniform(6, size - 6, 2)
    r = rng.uniform(3.0, 5.0)
    y, x = np.mgrid[:size, :size]
    dy, dx = y - cy, x - cx
    if shape == "disc":
        m = dx ** 2 + dy ** 2 < r ** 2
    elif shape == "square":
        m = (abs(dx) < r * 0.85) & (abs(dy) < r * 0.85)
    elif shape == "triangle":
        m = (dy < r * 0.8) & (dy > -r) & (abs(dx) < (dy + r) * 0.6)
    elif shape == "cross":
        m = ((abs(dx) < 1.2) | (abs(dy) < 1.2)) & (abs(dx) < r) & (abs(dy) < r)
    else:
        d = np.hypot(dx, dy)
        m = (d < r) & (d > r - 1.6)
    img = m * rng.uniform(0.6, 1.0) + rng.normal(0, 0.12, (size, size))
    return img.astype(np.float32)


class ShapeSet(Dataset):
    def __init__(self, per_class, seed):
        rng = np.random.default_rng(seed)
        self.items = [(draw(s, rng), k) for k, s in enumerate(SHAPES) for _ in range(per_class)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        img, k = self.items[i]
        return torch.from_numpy(img)[None], k


class Block(nn.Module):
    def __init__(self, cin, cout, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout)
        self.skip = nn.Conv2d(cin, cout, 1, stride, bias=False)

    def forward(self, x):
        h = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(h)) + self.skip(x))


class ShapeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(Block(1, 12, 2), Block(12, 24, 2))
        self.drop = nn.Dropout(0.2)
        self.fc = nn.Linear(24, len(SHAPES))

    def forward(self, x):
        h = self.body(x).mean((2, 3))
        return self.fc(self.drop(h))


@torch.no_grad()
def evaluate(model, loader):
    correct = np.zeros(len(SHAPES))
    count = np.zeros(len(SHAPES))
    loss = 0.0
    for x, y in loader:
        logits = model(x)
        loss += F.cross_entropy(logits, y, reduction="sum").item()
        hit = (logits.argmax(1) == y).numpy()
        np.add.at(correct, y.numpy(), hit)
        np.add.at(count, y.numpy(), 1)
    return loss / count.sum(), correct / count


def train(epochs=10):
    torch.manual_seed(47)
    train_loader = DataLoader(ShapeSet(260, 1), batch_size=40, shuffle=True)
    val_loader = DataLoader(ShapeSet(80, 2), batch_size=16, shuffle=False)
    model = ShapeNet()
    opt = torch.optim.SGD(model.parameters(), lr=0.08, momentum=0.9, weight_decay=5e-4, nesterov=True)
    sched = torch.optim.lr_scheduler.MultiStepLR(opt, milestones=[6, 9], gamma=0.2)
    for epoch in range(epochs):
        model.train()
        total = hits = seen = 0
        for x, y in train_loader:
            logits = model(x)
            loss = F.cross_entropy(logits, y)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            total += loss.item() * len(y)
            hits += (logits.argmax(1) == y).sum().item()
            seen += len(y)
        sched.step()
        val_loss, per_class = evaluate(model, val_loader)
        print(
            f"epoch {epoch + 1:2d} train {total / seen:.3f}/{hits / seen:.3f} val {val_loss:.3f}/{per_class.mean():.3f} "
            + " ".join(f"{s}:{a:.2f}" for s, a in zip(SHAPES, per_class))
        )


if __name__ == "__main__":
    train()
