"""Classify the trend regime of short load series with an LSTM."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SEQ_LEN, N_FEATURES = 30, 2


def make_series(n, seed):
    """The target is the mean of the load in the first third plus its later slope."""
    rng = np.random.default_rng(seed)
    level = rng.normal(0, 1, (n, 1))
    slope = rng.normal(0, 0.05, (n, 1))
    t = np.arange(SEQ_LEN)[None, :]
    load = level * (t < 10) + slope * t + 0.2 * rng.standard_normal((n, SEQ_LEN))
    hour = np.sin(2 * np.pi * (t + rng.integers(0, 24, (n, 1))) / 24)
    x = np.stack([load, np.broadcast_to(hour, load.shape)], axis=2)
    y = level[:, 0] + 10 * slope[:, 0]
    return TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32))


class LSTMForecaster(nn.Module):
    def __init__(self, hidden_size=48, num_layers=1):
        super().__init__()
        self.lstm = nn.LSTM(N_FEATURES, hidden_size, num_layers)
        self.fc = nn.Sequential(nn.Linear(hidden_size, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        out, _ = self.lstm(x)
        return self.fc(out[:, -1, :])


def evaluate(model, loader):
    model.eval()
    errors, spread = [], []
    with torch.no_grad():
        for x, y in loader:
            errors.append((model(x).flatten() - y).pow(2))
            spread.append(y)
    y = torch.cat(spread)
    return torch.cat(errors).mean().item() / y.var().item()


def main():
    torch.manual_seed(8)
    train_loader = DataLoader(make_series(1800, 0), batch_size=60, shuffle=True)
    val_loader = DataLoader(make_series(600, 1), batch_size=60)
    model = LSTMForecaster()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=5, gamma=0.5)
    loss_fn = nn.MSELoss()
    for epoch in range(6):
        model.train()
        running = 0.0
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            running += loss.item()
        scheduler.step()
        print(
            f"epoch {epoch:2d} train mse {running / len(train_loader):.4f} "
            f"val error/variance {evaluate(model, val_loader):.4f} lr {scheduler.get_last_lr()[0]:.1e}"
        )


if __name__ == "__main__":
    main()
