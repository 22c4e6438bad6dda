"""Level of a river one hour ahead from the last two days of level and rain: an LSTM, with a record of every epoch."""

import resource

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(20)
rng = np.random.default_rng(20)
WINDOW = 48


def river(hours=3000):
    rain = np.where(rng.random(hours) < 0.05, rng.gamma(2.0, 1.0, hours), 0.0)
    level, store, out = 0.0, 0.0, []
    for wet in rain:
        store = 0.95 * store + wet
        level = 0.9 * level + 0.05 * store
        out.append(level)
    series = np.stack([np.array(out) + 0.3 * np.sin(np.arange(hours) / 400), rain], axis=1)
    series = (series - series[:2400].mean(0)) / series[:2400].std(0)
    return torch.tensor(series, dtype=torch.float32)


def windows(series):
    x = series.unfold(0, WINDOW, 1)[:-1].transpose(1, 2)
    return TensorDataset(x, series[WINDOW:, 0])


class RiverNet(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.lstm = nn.LSTM(2, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        h, _ = self.lstm(x)
        return self.out(h[:, -1]).squeeze(-1)


def validate(model, loader, criterion):
    model.eval()
    total = 0.0
    for x, y in loader:
        total += criterion(model(x), y) * len(y)
    return total / len(loader.dataset)


def main():
    series = river()
    train = DataLoader(windows(series[:2400]), batch_size=64, shuffle=True)
    val = DataLoader(windows(series[2400 - WINDOW :]), batch_size=64)
    model = RiverNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    criterion = nn.MSELoss()
    history = {"train": [], "val": []}

    for epoch in range(7):
        model.train()
        running = 0.0
        for x, y in train:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            running += loss.item()
        history["train"].append(running / len(train))
        history["val"].append(validate(model, val, criterion))
        best = min(range(epoch + 1), key=lambda i: float(history["val"][i]))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"epoch {epoch} train {history['train'][-1]:.4f} val {history['val'][-1]:.4f} "
            f"best epoch {best} memory {memory:.0f} MiB"
        )


if __name__ == "__main__":
    main()
