"""Train the detector: python -m reviews.train"""

import torch
from sklearn.metrics import f1_score
from torch import nn

from .config import Settings
from .dataset import build_loaders, simulate
from .net import build


def validate(model, loader):
    guesses, labels = [], []
    with torch.no_grad():
        for x, y in loader:
            guesses.append((model(x) > 0).float())
            labels.append(y)
    guess, label = torch.cat(guesses), torch.cat(labels)
    return (guess == label).float().mean().item(), f1_score(label.numpy(), guess.numpy())


def main():
    cfg = Settings()
    torch.manual_seed(cfg.seed)
    train_loader, valid_loader = build_loaders(cfg)
    model = build(cfg)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    criterion = nn.BCEWithLogitsLoss()
    best = 0.0
    for epoch in range(cfg.epochs):
        model.train()
        total = 0.0
        for x, y in train_loader:
            loss = criterion(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        acc, f1 = validate(model, valid_loader)
        best = max(best, f1)
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1}: loss {total / len(train_loader):.4f} val acc {acc:.3f} val f1 {f1:.3f}")
    print(f"best validation f1: {best:.3f} on {simulate(cfg)[1].sum():.0f} real complaints")


if __name__ == "__main__":
    main()
