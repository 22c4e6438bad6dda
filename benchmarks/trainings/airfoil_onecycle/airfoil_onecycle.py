"""Airfoil noise regression with SGD and a one-cycle schedule."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS, BATCH = 15, 50


def simulate(n=2500, seed=0):
    rng = np.random.default_rng(seed)
    freq = np.exp(rng.uniform(5, 9.5, n))
    angle = rng.uniform(0, 22, n)
    chord = rng.uniform(0.02, 0.3, n)
    speed = rng.uniform(30, 72, n)
    level = 126 - 3.2 * (np.log(freq) - 7.2) ** 2 - 0.35 * angle + 9 * np.log(speed / 50) - 22 * chord
    level += 0.12 * angle * (np.log(freq) - 7) + rng.normal(0, 0.6, n)
    return np.stack([np.log(freq), angle, chord, speed], axis=1), level


def prepare():
    x, y = simulate()
    n_train = 2000
    x = (x - x[:n_train].mean(0)) / x[:n_train].std(0)
    mu, sigma = y[:n_train].mean(), y[:n_train].std()
    x = torch.tensor(x, dtype=torch.float32)
    y = torch.tensor((y - mu) / sigma, dtype=torch.float32).unsqueeze(1)
    train = DataLoader(TensorDataset(x[:n_train], y[:n_train]), batch_size=BATCH, shuffle=True)
    valid = DataLoader(TensorDataset(x[n_train:], y[n_train:]), batch_size=250, shuffle=False)
    return train, valid, sigma


class NoiseNet(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Linear(4, width), nn.BatchNorm1d(width), nn.ReLU(),
            nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU(),
        )
        self.head = nn.Linear(width, 1)
        nn.init.normal_(self.head.weight, std=1e-3)
        nn.init.zeros_(self.head.bias)

    def forward(self, x):
        return self.head(self.trunk(x))


@torch.no_grad()
def evaluate(model, loader, sigma):
    model.eval()
    out = torch.cat([model(x) for x, _ in loader])
    truth = torch.cat([y for _, y in loader])
    mse = (out - truth).pow(2).mean().item()
    return mse**0.5 * sigma, 1 - mse / truth.var().item()


def main():
    torch.manual_seed(0)
    train, valid, sigma = prepare()
    model = NoiseNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, nesterov=True)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=0.3, epochs=EPOCHS, steps_per_epoch=len(train), pct_start=0.25
    )
    criterion = nn.HuberLoss()
    for epoch in range(1, EPOCHS + 1):
        model.train()
        total = 0.0
        for x, y in train:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            scheduler.step()
            total += loss.item()
        rmse, r2 = evaluate(model, valid, sigma)
        print(f"epoch {epoch:2d} loss {total / len(train):.4f} rmse {rmse:.3f} dB r2 {r2:.3f} lr {scheduler.get_last_lr()[0]:.4f}")


if __name__ == "__main__":
    main()
