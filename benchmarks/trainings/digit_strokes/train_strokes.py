"""Small residual MLP on the 8x8 digits, plain PyTorch loop."""
import random
import time

import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

SEED = 7
EPOCHS = 15
BATCH = 64
LR = 0.05


def seed_everything(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


class ResidualBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.fc1 = nn.Linear(width, width)
        self.fc2 = nn.Linear(width, width)

    def forward(self, x):
        return x + self.fc2(torch.relu(self.fc1(self.norm(x))))


class StrokeNet(nn.Module):
    def __init__(self, width=96, depth=3, n_classes=10):
        super().__init__()
        self.stem = nn.Linear(64, width)
        self.blocks = nn.Sequential(*[ResidualBlock(width) for _ in range(depth)])
        self.head = nn.Linear(width, n_classes)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)))


def get_loaders():
    X, y = load_digits(return_X_y=True)
    X = (X / 16.0).astype("float32")
    X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.25, stratify=y, random_state=SEED)
    train = TensorDataset(torch.from_numpy(X_tr), torch.from_numpy(y_tr))
    valid = TensorDataset(torch.from_numpy(X_va), torch.from_numpy(y_va))
    return DataLoader(train, batch_size=BATCH, shuffle=True), DataLoader(valid, batch_size=256)


def run_train_epoch(model, loader, criterion, optimizer):
    model.train()
    running, seen = 0.0, 0
    for xb, yb in loader:
        logits = model(xb)
        loss = criterion(logits, yb)
        loss.backward()
        optimizer.step()
        running += loss.item() * len(yb)
        seen += len(yb)
    return running / seen


@torch.no_grad()
def run_valid_epoch(model, loader, criterion):
    model.eval()
    loss_sum, correct, seen = 0.0, 0, 0
    for xb, yb in loader:
        logits = model(xb)
        loss_sum += criterion(logits, yb).item() * len(yb)
        correct += (logits.argmax(1) == yb).sum().item()
        seen += len(yb)
    return loss_sum / seen, correct / seen


def main():
    seed_everything(SEED)
    train_loader, valid_loader = get_loaders()
    model = StrokeNet()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=LR, momentum=0.9, weight_decay=1e-4)
    best = 0.0
    for epoch in range(1, EPOCHS + 1):
        start = time.time()
        train_loss = run_train_epoch(model, train_loader, criterion, optimizer)
        valid_loss, valid_acc = run_valid_epoch(model, valid_loader, criterion)
        best = max(best, valid_acc)
        print(f"epoch {epoch:02d} train_loss {train_loss:.4f} val_loss {valid_loss:.4f} "
              f"val_acc {valid_acc:.4f} ({time.time() - start:.1f}s)")
    print(f"final val acc {valid_acc:.4f}  best {best:.4f}")


if __name__ == "__main__":
    main()
