"""Small residual CNN on the sklearn digits (8x8 grey images)."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.optim.lr_scheduler import MultiStepLR
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = 12
BATCH = 48
torch.manual_seed(0)


class ResBlock(nn.Module):
    def __init__(self, cin, cout, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout)
        self.short = nn.Identity()
        if stride != 1 or cin != cout:
            self.short = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(y)) + self.short(x))


class DigitNet(nn.Module):
    def __init__(self, width=12, classes=10):
        super().__init__()
        self.stem = nn.Conv2d(1, width, 3, padding=1, bias=False)
        self.stages = nn.Sequential(ResBlock(width, width), ResBlock(width, 2 * width, 2))
        self.fc = nn.Linear(2 * width, classes)

    def forward(self, x):
        x = self.stages(F.relu(self.stem(x)))
        return self.fc(x.mean(dim=(2, 3)))


def shift(x):
    """Random one-pixel translation, the only augmentation."""
    dx, dy = torch.randint(-1, 2, (2,)).tolist()
    return torch.roll(x, (dy, dx), dims=(2, 3))


def load():
    images, labels = load_digits(return_X_y=True)
    images = torch.tensor(images, dtype=torch.float32).view(-1, 1, 8, 8) / 16.0
    labels = torch.tensor(labels)
    tr, te = train_test_split(torch.arange(len(labels)).numpy(), test_size=0.25, random_state=0, stratify=labels)
    mean, std = images[tr].mean(), images[tr].std()
    images = (images - mean) / std
    return TensorDataset(images[tr], labels[tr]), TensorDataset(images[te], labels[te])


def test(model, loader):
    model.eval()
    loss, right, n = 0.0, 0, 0
    with torch.no_grad():
        for x, y in loader:
            out = model(x)
            loss += F.cross_entropy(out, y, reduction="sum").item()
            right += (out.argmax(1) == y).sum().item()
            n += len(y)
    return loss / n, right / n


def main():
    train_set, test_set = load()
    train_loader = DataLoader(train_set, BATCH, shuffle=True, drop_last=True)
    test_loader = DataLoader(test_set, 256)
    model = DigitNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=5e-4, nesterov=True)
    scheduler = MultiStepLR(optimizer, milestones=[6, 9, 11], gamma=0.1)

    for epoch in range(EPOCHS):
        model.train()
        seen, hits, total = 0, 0, 0.0
        for x, y in train_loader:
            out = model(shift(x))
            loss = F.cross_entropy(out, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            total += loss.item() * len(y)
            hits += (out.argmax(1) == y).sum().item()
            seen += len(y)
        test_loss, test_acc = test(model, test_loader)
        print(f"epoch {epoch + 1:2d}/{EPOCHS} train_loss {total / seen:.4f} train_acc {hits / seen:.4f} "
              f"test_loss {test_loss:.4f} test_acc {test_acc:.4f}")


if __name__ == "__main__":
    main()
