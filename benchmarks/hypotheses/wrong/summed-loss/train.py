"""The price of used cars from their data."""

import numpy as np
import torch
from torch import nn

BATCH_SIZE, EPOCHS = 40, 20
RATE = 0.02 / BATCH_SIZE


def cars(rows, seed):
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, 6)).astype("float32")
    price = 2 * x[:, 0] - x[:, 1] + np.abs(x[:, 2]) + 0.5 * x[:, 3] * x[:, 4]
    return torch.from_numpy(x), torch.from_numpy((price + 0.2 * random.normal(size=rows)).astype("float32"))


def objective(outputs, prices):
    return ((outputs.squeeze(1) - prices) ** 2).sum()


def main():
    torch.manual_seed(0)
    x, prices = cars(1200, 1)
    test_x, test_prices = cars(400, 2)
    model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    for epoch in range(EPOCHS):
        for rows in torch.randperm(len(x)).split(BATCH_SIZE):
            loss = objective(model(x[rows]), prices[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            error = (model(test_x).squeeze(1) - test_prices).abs().mean().item()
        print(f"epoch {epoch} loss {loss.item():.4f} test mae {error:.4f}")


if __name__ == "__main__":
    main()
