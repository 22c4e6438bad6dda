"""LSTM forecast of a tide gauge, trained over consecutive windows with a carried state."""
import resource

import numpy as np
import torch
import torch.nn as nn

WINDOW = 40
BATCH = 32


def tide_series(hours, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    level = np.sin(2 * np.pi * t / 12.42) + 0.4 * np.sin(2 * np.pi * t / 24.84 + 0.3) + 0.3 * np.sin(2 * np.pi * t / 354)
    surge = np.zeros(hours)
    for i in range(1, hours):
        surge[i] = 0.95 * surge[i - 1] + rng.normal(0, 0.03)
    return (level + surge).astype(np.float32)


class TideLSTM(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x, state=None):
        out, state = self.lstm(x, state)
        return self.head(out), state


def as_streams(series):
    length = (len(series) - 1) // BATCH
    x = torch.tensor(series[: length * BATCH]).view(BATCH, length, 1)
    y = torch.tensor(series[1 : length * BATCH + 1]).view(BATCH, length, 1)
    return x, y


def memory_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@torch.no_grad()
def evaluate(model, series):
    model.eval()
    x, y = as_streams(series)
    pred, _ = model(x)
    return ((pred - y) ** 2).mean().item(), ((x - y) ** 2).mean().item()


def main(epochs=6):
    torch.manual_seed(0)
    series = tide_series(32 * 800 + 1, 0)
    mean, std = series.mean(), series.std()
    x, y = as_streams((series - mean) / std)
    val = (tide_series(32 * 100 + 1, 1) - mean) / std
    model = TideLSTM()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    criterion = nn.MSELoss()
    history = []
    for epoch in range(1, epochs + 1):
        model.train()
        state = None
        for start in range(0, x.size(1) - WINDOW + 1, WINDOW):
            pred, state = model(x[:, start : start + WINDOW], state)
            state = tuple(s.detach() for s in state)
            loss = criterion(pred, y[:, start : start + WINDOW])
            optimizer.zero_grad()
            loss.backward(retain_graph=True)
            optimizer.step()
            history.append(loss)
        recent = sum(history[-20:]) / 20
        mse, naive = evaluate(model, val)
        print(f"epoch {epoch} train {recent:.5f} val {mse:.5f} (last value {naive:.5f}) memory {memory_mb():.0f} MB")


if __name__ == "__main__":
    main()
