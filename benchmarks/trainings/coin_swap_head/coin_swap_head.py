"""Take the digit reader trained on 0..4 and adapt it to 5..9 by swapping its last layer.

The body moves slowly (1e-5), the new layer quickly (1e-2).
"""
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


class Reader(nn.Module):
    def __init__(self, classes: int):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.Flatten(),
        )
        self.head = nn.Linear(32 * 16, classes)

    def forward(self, x):
        return self.head(self.body(x))


def data(which):
    d = load_digits()
    keep = [i for i, t in enumerate(d.target) if t in which]
    x = torch.tensor(d.images[keep] / 8.0 - 1.0, dtype=torch.float32).unsqueeze(1)
    y = torch.tensor([which.index(t) for t in d.target[keep]])
    a, b, c, e = train_test_split(x, y, test_size=0.4, random_state=0, stratify=y)
    return DataLoader(TensorDataset(a, c), batch_size=32, shuffle=True), b, e


def fit(model, opt, loader, epochs, name):
    loss_fn = nn.CrossEntropyLoss()
    for ep in range(epochs):
        model.train()
        s = 0.0
        for x, y in loader:
            opt.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            opt.step()
            s += loss.item()
        print(f"{name} {ep}: loss {s / len(loader):.4f}")


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def two_speed(model, slow=1e-5, fast=1e-2):
    return torch.optim.Adam([
        {"params": model.body.parameters(), "lr": slow},
        {"params": model.head.parameters(), "lr": fast},
    ])


def main():
    torch.manual_seed(8)
    low, xl, yl = data([0, 1, 2, 3, 4])
    high, xh, yh = data([5, 6, 7, 8, 9])

    model = Reader(5)
    fit(model, torch.optim.Adam(model.parameters(), lr=1e-3), low, 5, "low digits")
    print(f"low digits accuracy {accuracy(model, xl, yl):.3f}")

    opt = two_speed(model)
    model.head = nn.Linear(model.head.in_features, 5)
    fit(model, opt, high, 8, "high digits")
    print(f"high digits accuracy {accuracy(model, xh, yh):.3f}")


if __name__ == "__main__":
    main()
