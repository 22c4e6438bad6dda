"""Classify small drawn shapes (disc, ring, square, cross, triangle) on noisy backgrounds."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

CLASSES = ["disc", "ring", "square", "cross", "triangle"]
SIZE = 16


def draw(kind, rng):
    yy, xx = np.mgrid[:SIZE, :SIZE].astype(np.float32)
    cy, cx = rng.uniform(6, 10, 2)
    r = rng.uniform(3.0, 5.0)
    dy, dx = yy - cy, xx - cx
    dist = np.hypot(dy, dx)
    if kind == "disc":
        mask = dist < r
    elif kind == "ring":
        mask = (dist < r) & (dist > r - 1.6)
    elif kind == "square":
        mask = (abs(dy) < 0.85 * r) & (abs(dx) < 0.85 * r)
    elif kind == "cross":
        mask = ((abs(dy) < 1.1) | (abs(dx) < 1.1)) & (dist < r)
    else:
        mask = (dy < 0.7 * r) & (dy > -r + 1.7 * abs(dx))
    img = rng.normal(0, 0.35, (SIZE, SIZE)) + mask * rng.uniform(0.7, 1.3)
    return img.astype(np.float32)


class Shapes(Dataset):
    def __init__(self, per_class, seed):
        rng = np.random.default_rng(seed)
        self.samples = [(draw(k, rng), i) for i, k in enumerate(CLASSES) for _ in range(per_class)]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        img, label = self.samples[i]
        return torch.from_numpy(img)[None], label


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(16)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(32)
        self.drop = nn.Dropout(0.2)
        self.fc = nn.Linear(32 * 4 * 4, len(CLASSES))

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.bn2(self.conv2(x))), 2)
        return self.fc(self.drop(x.flatten(1)))


def train(model, device, loader, optimizer, epoch):
    model.train()
    running = 0.0
    for data, target in loader:
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(data), target)
        loss.backward()
        optimizer.step()
        running += loss.item()
    print(f"Train Epoch: {epoch}\tLoss: {running / len(loader):.4f}")


def test(model, device, loader):
    model.eval
    test_loss, correct = 0.0, 0
    with torch.no_grad():
        for data, target in loader:
            data, target = data.to(device), target.to(device)
            output = model(data)
            test_loss += F.cross_entropy(output, target, reduction="sum").item()
            correct += output.argmax(1).eq(target).sum().item()
    n = len(loader.dataset)
    print(f"Test set: Average loss: {test_loss / n:.4f}, Accuracy: {correct}/{n} ({correct / n:.1%})")


def main():
    torch.manual_seed(1)
    device = torch.device("cpu")
    train_loader = DataLoader(Shapes(300, seed=1), batch_size=50, shuffle=True)
    test_loader = DataLoader(Shapes(80, seed=2), batch_size=20)
    model = ConvNet().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=4, gamma=0.4)
    for epoch in range(1, 10):
        train(model, device, train_loader, optimizer, epoch)
        test(model, device, test_loader)
        scheduler.step()


if __name__ == "__main__":
    main()
