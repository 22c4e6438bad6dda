"""GRU forecast of household power: split by time, scaled with the past only, carried state detached, quantile loss."""
import numpy as np
import torch
import torch.nn as nn

QUANTILES = torch.tensor([0.1, 0.5, 0.9])
WINDOW, STREAMS = 24, 16


def power(hours, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    day = 1.2 + np.sin(2 * np.pi * (t - 7) / 24) + 0.5 * np.sin(4 * np.pi * t / 24)
    spikes = (rng.random(hours) < 0.03) * rng.gamma(2, 0.5, hours)
    temperature = 12 + 8 * np.sin(2 * np.pi * t / (24 * 30)) + np.cumsum(rng.normal(0, 0.2, hours)) * 0.1
    load = np.maximum(day, 0.1) * (1 + 0.03 * np.maximum(0, 15 - temperature)) + spikes + rng.normal(0, 0.08, hours)
    return np.stack([load, temperature], axis=1).astype(np.float32)


class PowerGRU(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.gru = nn.GRU(2, hidden, batch_first=True)
        self.norm = nn.LayerNorm(hidden)
        self.head = nn.Linear(hidden, len(QUANTILES))

    def forward(self, x, state=None):
        out, state = self.gru(x, state)
        return self.head(self.norm(out)), state


def pinball(pred, target):
    gap = target.unsqueeze(-1) - pred
    return torch.maximum(QUANTILES * gap, (QUANTILES - 1) * gap).mean()


def streams(table, n):
    length = (len(table) - 1) // n
    x = torch.tensor(table[: n * length]).view(n, length, 2)
    y = torch.tensor(table[1 : n * length + 1, 0]).view(n, length)
    return x, y


@torch.no_grad()
def evaluate(model, table):
    model.eval()
    x, y = streams(table, 1)
    pred, _ = model(x)
    inside = ((y > pred[..., 0]) & (y < pred[..., 2])).float().mean().item()
    return pinball(pred, y).item(), (pred[..., 1] - y).abs().mean().item(), inside, (x[..., 0] - y).abs().mean().item()


def main(epochs=12):
    torch.manual_seed(1)
    table = power(24 * 400, 0)
    past, future = table[: 24 * 340], table[24 * 340 :]
    mean, std = past.mean(0), past.std(0)
    past, future = (past - mean) / std, (future - mean) / std
    x, y = streams(past, STREAMS)
    model = PowerGRU()
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=1e-3)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, epochs=epochs, steps_per_epoch=x.size(1) // WINDOW)
    for epoch in range(1, epochs + 1):
        model.train()
        state, total, steps = None, 0.0, 0
        for start in range(0, x.size(1) - WINDOW + 1, WINDOW):
            if state is not None:
                state = state.detach()
            pred, state = model(x[:, start : start + WINDOW], state)
            loss = pinball(pred, y[:, start : start + WINDOW])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
            scheduler.step()
            total, steps = total + loss.item(), steps + 1
        if epoch % 3 == 0:
            q, mae, inside, naive = evaluate(model, future)
            print(f"epoch {epoch} train {total / steps:.4f} val {q:.4f} mae {mae:.3f} (last value {naive:.3f}) inside 80% band {inside:.2f}")


if __name__ == "__main__":
    main()
