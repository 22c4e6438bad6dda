"""Three-way wine cultivar classification with a small MLP."""

import numpy as np
import torch
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SEED = 7
EPOCHS = 60


def get_loaders(batch_size):
    x, y = load_wine(return_X_y=True)
    x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.3, random_state=SEED, stratify=y)
    x_tr = torch.tensor(x_tr, dtype=torch.float32)
    x_te = torch.tensor(x_te, dtype=torch.float32)
    train = TensorDataset(x_tr, torch.tensor(y_tr))
    test = TensorDataset(x_te, torch.tensor(y_te))
    return DataLoader(train, batch_size=batch_size, shuffle=True), DataLoader(test, batch_size=64)


class WineNet(nn.Module):
    def __init__(self, n_features, n_classes, width=32):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(n_features, width),
            nn.Tanh(),
            nn.Linear(width, width),
            nn.Tanh(),
            nn.Linear(width, n_classes),
        )

    def forward(self, x):
        return self.layers(x)


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    hits, total, loss_sum = 0, 0, 0.0
    for xb, yb in loader:
        out = model(xb)
        loss_sum += nn.functional.cross_entropy(out, yb, reduction="sum").item()
        hits += (out.argmax(dim=1) == yb).sum().item()
        total += len(yb)
    return loss_sum / total, hits / total


def main():
    torch.manual_seed(SEED)
    np.random.seed(SEED)
    train_loader, test_loader = get_loaders(batch_size=16)
    model = WineNet(13, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    criterion = nn.CrossEntropyLoss()

    best = 0.0
    for epoch in range(EPOCHS):
        model.train()
        running = 0.0
        for xb, yb in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            optimizer.step()
            running += loss.item() * len(yb)
        test_loss, test_acc = evaluate(model, test_loader)
        best = max(best, test_acc)
        if epoch % 6 == 0 or epoch == EPOCHS - 1:
            train_loss = running / len(train_loader.dataset)
            print(f"epoch {epoch:3d}  train loss {train_loss:.4f}  test loss {test_loss:.4f}  acc {test_acc:.3f}")
    print(f"best test accuracy {best:.3f}")


if __name__ == "__main__":
    main()
