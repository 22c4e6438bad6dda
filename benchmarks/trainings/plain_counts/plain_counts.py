"""Predicting the visits of the next day from hourly page counts; the counts are taken to logarithms first."""
import numpy as np
import torch
from torch import nn

torch.manual_seed(3)
np.random.seed(3)


def page_counts(n):
    level = np.random.gamma(2.0, 6.0, n)
    shape = np.abs(np.random.normal(0, 1, (n, 24))) * np.sin(np.linspace(0, np.pi, 24)) ** 2
    counts = np.random.poisson(level[:, None] * shape)
    tomorrow = np.random.poisson(level * shape.sum(1) * np.random.uniform(0.9, 1.1, n))
    return counts.astype(np.float32), tomorrow.astype(np.float32)


def make_features(counts):
    logs = np.log(counts)
    totals = np.log(counts.sum(axis=1, keepdims=True) + 1)
    return np.concatenate([logs, totals], axis=1)


class VisitNet(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(n_in, 64),
            nn.ReLU(),
            nn.Linear(64, 32),
            nn.ReLU(),
            nn.Linear(32, 1),
        )

    def forward(self, x):
        return self.layers(x).squeeze(1)


def iterate(x, y, size):
    order = torch.randperm(len(x))
    for chunk in order.split(size):
        yield x[chunk], y[chunk]


def main():
    counts, tomorrow = page_counts(4000)
    features = make_features(counts)
    target = np.log1p(tomorrow)
    split = 3200
    x_train = torch.tensor(features[:split], dtype=torch.float32)
    x_val = torch.tensor(features[split:], dtype=torch.float32)
    y_train = torch.tensor(target[:split], dtype=torch.float32)
    y_val = torch.tensor(target[split:], dtype=torch.float32)

    model = VisitNet(features.shape[1])
    loss_fn = nn.HuberLoss()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    for epoch in range(1, 11):
        model.train()
        total, batches = 0.0, 0
        for xb, yb in iterate(x_train, y_train, 64):
            optimizer.zero_grad()
            loss = loss_fn(model(xb), yb)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            total += loss.item()
            batches += 1
        model.eval()
        with torch.no_grad():
            val = loss_fn(model(x_val), y_val).item()
        if epoch % 2 == 0:
            print(f"epoch {epoch}: train {total / batches:.4f} val {val:.4f}")


if __name__ == "__main__":
    main()
