"""River level, one step ahead. The series is read in order and the state of the GRU is carried on."""
import numpy as np
import torch
import torch.nn as nn

SEED, LANES, CHUNK, EPOCHS = 82, 8, 30, 25


def river(days, seed):
    """Rain that drains slowly, with a yearly rhythm; level reacts with a delay."""
    rng = np.random.default_rng(seed)
    season = 0.5 + 0.5 * np.sin(2 * np.pi * np.arange(days) / 365)
    rain = rng.gamma(0.4, 2.0, days) * season
    level = np.zeros(days)
    soil = 0.0
    for d in range(1, days):
        soil = 0.9 * soil + rain[d - 1]
        level[d] = 0.7 * level[d - 1] + 0.25 * soil
    return np.stack([level, rain], axis=1).astype(np.float32)


class RiverGRU(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.gru = nn.GRU(2, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, state=None):
        h, state = self.gru(x, state)
        return x[..., :1] + self.out(h), state


def lanes(series):
    """Cut the training years into contiguous lanes that run side by side."""
    n = (len(series) - 1) // LANES
    x = torch.stack([series[i * n:(i + 1) * n] for i in range(LANES)])
    y = torch.stack([series[i * n + 1:(i + 1) * n + 1, :1] for i in range(LANES)])
    return x, y


@torch.no_grad()
def forecast_rmse(model, history, future):
    """Runs over the history first so that the state is warm, then scores the later years."""
    model.eval()
    _, state = model(history[None])
    pred, _ = model(future[None, :-1], state)
    err = pred[0] - future[1:, :1]
    naive = future[:-1, :1] - future[1:, :1]
    return err.pow(2).mean().sqrt().item(), naive.pow(2).mean().sqrt().item()


def main():
    torch.manual_seed(SEED)
    data = river(365 * 8, SEED)
    split = 365 * 6
    mean, std = data[:split].mean(0), data[:split].std(0)
    data = torch.from_numpy((data - mean) / std)
    train, test = data[:split], data[split:]
    x, y = lanes(train)
    model = RiverGRU()
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(1, EPOCHS + 1):
        model.train()
        state, total, count = None, 0.0, 0
        for start in range(0, x.shape[1], CHUNK):
            pred, state = model(x[:, start:start + CHUNK], state)
            state = state.detach()
            loss = nn.functional.mse_loss(pred, y[:, start:start + CHUNK])
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            total, count = total + loss.item(), count + 1
        if epoch % 5 == 0:
            rmse, naive = forecast_rmse(model, train, test)
            print(f"epoch {epoch:2d} train mse {total / count:.5f} test rmse {rmse:.4f} (yesterday's level {naive:.4f})")


if __name__ == "__main__":
    main()
