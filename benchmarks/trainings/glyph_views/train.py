import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, Dataset

SEED, EPOCHS, BATCH, LR = 11, 6, 64, 0.05
torch.manual_seed(SEED)
np.random.seed(SEED)


class DigitImages(Dataset):
    def __init__(self, images, labels):
        self.images = torch.from_numpy(images).float().unsqueeze(1) / 16.0
        self.labels = torch.from_numpy(labels).long()

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.images[i], self.labels[i]


def random_shift(x, max_px=1):
    dy, dx = np.random.randint(-max_px, max_px + 1, size=2)
    return torch.roll(x, shifts=(int(dy), int(dx)), dims=(-2, -1))


def two_views(x, y):
    """Every image appears twice in a batch: shifted, and with a bit of noise."""
    shifted = random_shift(x)
    noisy = (x + 0.1 * torch.randn_like(x)).clamp(0, 1)
    images = torch.cat([shifted, noisy], dim=0)
    labels = y.repeat_interleave(2)
    return images, labels


class ResBlock(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.c1 = nn.Conv2d(ch, ch, 3, padding=1, bias=False)
        self.c2 = nn.Conv2d(ch, ch, 3, padding=1, bias=False)
        self.n1, self.n2 = nn.BatchNorm2d(ch), nn.BatchNorm2d(ch)

    def forward(self, x):
        h = F.relu(self.n1(self.c1(x)))
        return F.relu(x + self.n2(self.c2(h)))


class TinyResNet(nn.Module):
    def __init__(self, n_classes=10):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU())
        self.stage1 = ResBlock(16)
        self.down = nn.Sequential(nn.Conv2d(16, 32, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU())
        self.stage2 = ResBlock(32)
        self.fc = nn.Linear(32, n_classes)

    def forward(self, x):
        x = self.stage2(self.down(self.stage1(self.stem(x))))
        return self.fc(x.mean(dim=(2, 3)))


@torch.inference_mode()
def accuracy(model, loader):
    model.eval()
    hit = total = 0
    for x, y in loader:
        hit += (model(x).argmax(1) == y).sum().item()
        total += len(y)
    return hit / total


def main():
    digits = load_digits()
    tr_x, te_x, tr_y, te_y = train_test_split(
        digits.images, digits.target, test_size=0.25, random_state=SEED, stratify=digits.target)
    train_loader = DataLoader(DigitImages(tr_x, tr_y), BATCH, shuffle=True, drop_last=True)
    test_loader = DataLoader(DigitImages(te_x, te_y), 256)

    model = TinyResNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=LR, momentum=0.9, weight_decay=5e-4, nesterov=True)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=EPOCHS)
    best = 0.0
    for epoch in range(1, EPOCHS + 1):
        model.train()
        losses = []
        for x, y in train_loader:
            x, y = two_views(x, y)
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        scheduler.step()
        acc = accuracy(model, test_loader)
        best = max(best, acc)
        print(f"[{epoch:2d}/{EPOCHS}] loss={np.mean(losses):.4f} test_acc={acc:.4f}")
    print(f"best test accuracy {best:.4f}")


if __name__ == "__main__":
    main()
