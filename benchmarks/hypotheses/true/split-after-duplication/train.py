"""Which machines will fail: rare ones are repeated to balance the classes."""

import numpy as np
import torch
from torch import nn

FEATURES, EPOCHS, BATCH_SIZE = 20, 20, 64


def machines():
    random = np.random.default_rng(1)
    x = random.normal(size=(900, FEATURES)).astype("float32")
    score = x[:, 0] + x[:, 1] * x[:, 2] + 1.2 * random.normal(size=900)
    return x, (score > 2.0).astype("int64")


def balanced(x, y):
    """With each row of the rare class as often as makes both classes equal."""
    rare = np.flatnonzero(y == 1)
    more = np.resize(rare, len(y) - 2 * len(rare))
    return np.concatenate([x, x[more]]), np.concatenate([y, y[more]])


def split(x, y):
    order = np.random.default_rng(2).permutation(len(x))
    cut = int(0.7 * len(x))
    train, test = order[:cut], order[cut:]
    return x[train], y[train], x[test], y[test]


def prepared():
    x, y = machines()
    x, y = balanced(x, y)
    return split(x, y)


def main():
    torch.manual_seed(0)
    x, y, test_x, test_y = map(torch.from_numpy, prepared())
    model = nn.Sequential(nn.Linear(FEATURES, 64), nn.ReLU(), nn.Linear(64, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(EPOCHS):
        for rows in torch.randperm(len(x)).split(BATCH_SIZE):
            loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            guess = model(test_x).argmax(1)
        right = (guess == 1) & (test_y == 1)
        f1 = 2 * right.sum() / ((guess == 1).sum() + (test_y == 1).sum())
        print(f"epoch {epoch} loss {loss.item():.4f} test f1 {f1.item():.4f}")


if __name__ == "__main__":
    main()
