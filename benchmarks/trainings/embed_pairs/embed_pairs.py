"""Metric learning with positive and negative pairs."""

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier
from torch import nn
from torch.utils.data import DataLoader, Dataset


class PairDataset(Dataset):
    def __init__(self, x, y, n_pairs, seed):
        self.x, self.y = x, y
        rng = np.random.default_rng(seed)
        by_class = [np.flatnonzero(y == c) for c in range(10)]
        self.pairs = []
        for i in range(n_pairs):
            a = int(rng.integers(len(y)))
            same = i % 2 == 0
            c = y[a] if same else rng.choice([k for k in range(10) if k != y[a]])
            self.pairs.append((a, int(rng.choice(by_class[c])), float(same)))

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, i):
        a, b, same = self.pairs[i]
        return self.x[a], self.x[b], torch.tensor(same)


class Encoder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, dim))

    def forward(self, x):
        return self.net(x)


class PairLoss(nn.Module):
    def forward(self, za, zb, same):
        dist = (za - zb).pow(2).sum(dim=1)
        return (same * dist - (1 - same) * dist).mean()


def knn_accuracy(encoder, x_train, y_train, x_test, y_test):
    encoder.eval()
    with torch.no_grad():
        knn = KNeighborsClassifier(5).fit(encoder(x_train).numpy(), y_train)
        acc = knn.score(encoder(x_test).numpy(), y_test)
        norm = encoder(x_test).norm(dim=1).mean().item()
    encoder.train()
    return acc, norm


def main():
    torch.manual_seed(6)
    digits = load_digits()
    x = torch.tensor(digits.data / 8.0 - 1.0, dtype=torch.float32)
    y = digits.target
    order = np.random.default_rng(6).permutation(len(y))
    tr, te = order[:1300], order[1300:]
    loader = DataLoader(PairDataset(x[tr], y[tr], 6000, seed=6), batch_size=64, shuffle=True)
    encoder = Encoder()
    optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3)
    criterion = PairLoss()
    print("before: knn accuracy %.3f, norm %.2f" % knn_accuracy(encoder, x[tr], y[tr], x[te], y[te]))
    for epoch in range(8):
        total = 0.0
        for xa, xb, same in loader:
            loss = criterion(encoder(xa), encoder(xb), same)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        acc, norm = knn_accuracy(encoder, x[tr], y[tr], x[te], y[te])
        print(f"epoch {epoch}: loss {total / len(loader):.3f} knn {acc:.3f} mean norm {norm:.2f}")


if __name__ == "__main__":
    main()
