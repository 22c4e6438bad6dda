"""Predict the sum of two handwritten digits; accelerate loop with SGD and cosine decay."""
import numpy as np
import torch
import torch.nn as nn
from accelerate import Accelerator
from accelerate.utils import set_seed
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, Dataset


class DigitPairs(Dataset):
    def __init__(self, images, labels, n_pairs, seed):
        rng = np.random.default_rng(seed)
        self.images, self.labels = images, labels
        self.pairs = rng.integers(0, len(images), size=(n_pairs, 2))

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, i):
        a, b = self.pairs[i]
        pair = np.stack([self.images[a], self.images[b]])
        return torch.from_numpy(pair), int(self.labels[a] + self.labels[b])


class SumNet(nn.Module):
    def __init__(self, n_classes=19):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(24 * 4, 48), nn.ReLU(),
        )
        self.head = nn.Sequential(nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, n_classes))

    def forward(self, x):
        b = x.shape[0]
        feats = self.conv(x.reshape(b * 2, 1, 8, 8)).reshape(b, -1)
        return self.head(feats)


def evaluate(accelerator, model, loader):
    model.eval()
    good = count = 0
    with torch.no_grad():
        for x, y in loader:
            guess, y = accelerator.gather_for_metrics((model(x).argmax(1), y))
            good += (guess == y).sum().item()
            count += len(y)
    return good / count


def main():
    set_seed(1234)
    accelerator = Accelerator(cpu=True)
    digits = load_digits()
    images = (digits.images / 16.0).astype("float32")
    train_ds = DigitPairs(images[:1300], digits.target[:1300], 4000, seed=1)
    val_ds = DigitPairs(images[1300:], digits.target[1300:], 800, seed=2)
    train_loader = DataLoader(train_ds, batch_size=64, shuffle=True)
    val_loader = DataLoader(val_ds, batch_size=200)

    model = SumNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
    epochs = 10
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs * len(train_loader))
    criterion = nn.CrossEntropyLoss()
    model, optimizer, train_loader, val_loader, scheduler = accelerator.prepare(
        model, optimizer, train_loader, val_loader, scheduler
    )

    for epoch in range(epochs):
        model.train()
        optimizer.zero_grad()
        losses = []
        for x, y in train_loader:
            loss = criterion(model(x), y)
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            scheduler.step()
            losses.append(loss.item())
        acc = evaluate(accelerator, model, val_loader)
        accelerator.print(f"epoch {epoch + 1:2d}: loss {np.mean(losses):.4f}, val accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
