"""One-step forecast of a river level with a stateful GRU (truncated BPTT)."""

import numpy as np
import torch
from torch import nn


def river(n=6000, seed=1):
    rng = np.random.default_rng(seed)
    rain = rng.gamma(0.3, 2.0, n)
    level = np.zeros(n)
    store = 0.0
    for t in range(1, n):
        store = 0.9 * store + rain[t - 1]
        level[t] = 0.7 * level[t - 1] + 0.15 * store * (1 + 0.5 * np.sin(2 * np.pi * t / 365))
    level += 0.05 * rng.standard_normal(n)
    return np.stack([level, rain, np.sin(2 * np.pi * np.arange(n) / 365)], axis=1).astype(np.float32)


class Forecaster(nn.Module):
    def __init__(self, n_in=3, hidden=32):
        super().__init__()
        self.gru = nn.GRU(n_in, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)
        nn.init.zeros_(self.head.weight)

    def forward(self, x, state=None):
        out, state = self.gru(x, state)
        return x[..., 0] + self.head(out).squeeze(-1), state


def as_streams(values, streams):
    """Cut a series into parallel streams that are read side by side."""
    length = len(values) // streams
    return torch.tensor(values[: length * streams]).view(streams, length, -1)


def train_epoch(model, data, optimizer, chunk):
    model.train()
    state, losses = None, []
    for start in range(0, data.size(1) - 1 - chunk, chunk):
        x = data[:, start:start + chunk]
        y = data[:, start + 1:start + chunk + 1, 0]
        pred, state = model(x, state)
        state = state.detach()
        loss = nn.functional.mse_loss(pred, y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        losses.append(loss.item())
    return float(np.mean(losses))


@torch.no_grad()
def evaluate(model, series):
    model.eval()
    pred, _ = model(series[:, :-1])
    truth = series[:, 1:, 0]
    persistence = (series[:, :-1, 0] - truth).pow(2).mean().item()
    return (pred - truth).pow(2).mean().item(), persistence


def main():
    torch.manual_seed(1)
    values = river()
    cut = 4800
    mean, std = values[:cut].mean(0), values[:cut].std(0)
    values = (values - mean) / std
    train = as_streams(values[:cut], streams=16)
    test = torch.tensor(values[cut:]).unsqueeze(0)
    model = Forecaster()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(1, 16):
        loss = train_epoch(model, train, optimizer, chunk=25)
        if epoch % 3 == 0:
            mse, persistence = evaluate(model, test)
            print(f"epoch {epoch}: train {loss:.4f} test {mse:.4f} (persistence {persistence:.4f})")


if __name__ == "__main__":
    main()
