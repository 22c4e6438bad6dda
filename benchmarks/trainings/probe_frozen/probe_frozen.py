"""Few-shot transfer: pretrain on eight digits, probe on four letters-like classes."""

import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(71)


def trunk():
    return nn.Sequential(
        nn.Linear(64, 128), nn.BatchNorm1d(128), nn.ReLU(),
        nn.Linear(128, 64), nn.BatchNorm1d(64), nn.ReLU(),
    )


def run(model, x, y, optimizer, epochs, batch_size=40, frozen=None):
    criterion = nn.CrossEntropyLoss()
    for _ in range(epochs):
        model.train()
        if frozen is not None:
            frozen.eval()
        total = 0.0
        for idx in torch.randperm(len(x)).split(batch_size):
            loss = criterion(model(x[idx]), y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(idx)
    return total / len(x)


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


def load():
    digits = load_digits()
    x = torch.tensor(digits.data / 8.0 - 1.0, dtype=torch.float32)
    y = torch.tensor(digits.target)
    order = torch.randperm(len(y))
    x, y = x[order], y[order]
    old = y < 6
    return (x[old], y[old]), (x[~old], y[~old] - 6)


def main():
    (x_old, y_old), (x_new, y_new) = load()
    backbone = trunk()
    pretrained = nn.Sequential(backbone, nn.Linear(64, 6))
    loss = run(pretrained, x_old[:900], y_old[:900], torch.optim.AdamW(pretrained.parameters(), 2e-3), epochs=8)
    print(f"pretraining loss {loss:.4f} accuracy {accuracy(pretrained, x_old[900:], y_old[900:]):.3f}")

    for p in backbone.parameters():
        p.requires_grad = False
    head = nn.Linear(64, 4)
    model = nn.Sequential(backbone, head)
    x_few, y_few, x_test, y_test = x_new[:120], y_new[:120], x_new[120:], y_new[120:]
    optimizer = torch.optim.AdamW(head.parameters(), lr=5e-3, weight_decay=1e-2)
    for stage in range(4):
        loss = run(model, x_few, y_few, optimizer, epochs=10, frozen=backbone)
        print(f"probe {stage}: loss {loss:.4f} test {accuracy(model, x_test, y_test):.3f}")

    last = backbone[3]
    for p in last.parameters():
        p.requires_grad = True
    optimizer = torch.optim.AdamW(
        [{"params": last.parameters(), "lr": 5e-5}, {"params": head.parameters(), "lr": 1e-3}], weight_decay=1e-2
    )
    loss = run(model, x_few, y_few, optimizer, epochs=15, frozen=backbone)
    print(f"unfrozen: loss {loss:.4f} test {accuracy(model, x_test, y_test):.3f}")


if __name__ == "__main__":
    main()
