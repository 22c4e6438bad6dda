"""Forecast the next hour of grid load from the last day with an LSTM."""
import argparse

import numpy as np
import torch
import torch.nn as nn

WINDOW = 24


def hourly_load(hours, seed):
    """Daily and weekly rhythm whose phase drifts, an AR(2) weather part and noise."""
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    drift = np.cumsum(rng.normal(0, 0.04, hours))
    daily = np.sin(2 * np.pi * t / 12 + drift)
    weather = np.zeros(hours)
    for i in range(2, hours):
        weather[i] = 1.6 * weather[i - 1] - 0.8 * weather[i - 2] + rng.normal(0, 0.1)
    return (daily + weather + rng.normal(0, 0.03, hours)).astype(np.float32)


def windows(series):
    x = np.stack([series[i:i + WINDOW] for i in range(len(series) - WINDOW)])
    return torch.from_numpy(x).unsqueeze(-1), torch.from_numpy(series[WINDOW:])


class LoadForecaster(nn.Module):
    def __init__(self, hidden=32, layers=1):
        super().__init__()
        self.lstm = nn.LSTM(input_size=1, hidden_size=hidden, num_layers=layers)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        """x: (batch, window, 1)"""
        out, _ = self.lstm(x)
        return self.head(out[:, -1]).squeeze(-1)


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        pred = torch.cat([model(chunk) for chunk in x.split(128)])
    rmse = (pred - y).pow(2).mean().sqrt().item()
    naive = (x[:, -1, 0] - y).pow(2).mean().sqrt().item()
    return rmse, naive


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=15)
    ap.add_argument("--batch-size", type=int, default=64)
    ap.add_argument("--lr", type=float, default=5e-3)
    ap.add_argument("--seed", type=int, default=9)
    args = ap.parse_args()
    torch.manual_seed(args.seed)

    series = hourly_load(3000, args.seed)
    cut = 2400
    mean, std = series[:cut].mean(), series[:cut].std()
    series = (series - mean) / std
    x_train, y_train = windows(series[:cut])
    x_test, y_test = windows(series[cut:])

    model = LoadForecaster()
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(1, args.epochs + 1):
        model.train()
        perm = torch.randperm(len(x_train))
        total = 0.0
        for idx in perm.split(args.batch_size):
            loss = nn.functional.mse_loss(model(x_train[idx]), y_train[idx])
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            total += loss.item() * len(idx)
        if epoch % 3 == 0:
            rmse, naive = evaluate(model, x_test, y_test)
            print(f"epoch {epoch:2d}  train mse {total / len(x_train):.4f}  test rmse {rmse:.4f}  (persistence {naive:.4f})")


if __name__ == "__main__":
    main()
