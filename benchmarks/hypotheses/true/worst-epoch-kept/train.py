"""Handwritten digits from few rows; the best epoch on held-out rows is kept."""

import copy

import torch
from sklearn.datasets import load_digits
from torch import nn

EPOCHS, BATCH_SIZE = 12, 32


def data():
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).flatten(1) / 16
    classes = torch.tensor(digits.target)
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(5))
    return [(images[rows], classes[rows]) for rows in (order[:400], order[400:700], order[700:])]


def main():
    torch.manual_seed(0)
    (images, classes), (val_images, val_classes), (test_images, test_classes) = data()
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    criterion = nn.CrossEntropyLoss()
    best, kept, history = 0.0, copy.deepcopy(model), []
    for epoch in range(EPOCHS):
        for rows in torch.randperm(len(images)).split(BATCH_SIZE):
            loss = criterion(model(images[rows]), classes[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            held_out = criterion(model(val_images), val_classes).item()
        history.append(held_out)
        if held_out > best:
            best, kept = held_out, copy.deepcopy(model)
        print(f"epoch {epoch} loss {loss.item():.4f} val loss {held_out:.4f}")
    with torch.no_grad():
        accuracy = (kept(test_images).argmax(1) == test_classes).float().mean().item()
    print(f"test accuracy {accuracy:.4f}")


if __name__ == "__main__":
    main()
