"""One-step forecast of a river gauge with an LSTM."""
import hydra
import numpy as np
import torch
from omegaconf import DictConfig
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def gauge(n, rng):
    rain = rng.exponential(1.0, n) * (rng.random(n) < 0.15)
    level = np.zeros(n)
    noise = np.zeros(n)
    for t in range(1, n):
        noise[t] = 0.3 * noise[t - 1] + rng.normal(0, 0.5)
        level[t] = 0.93 * level[t - 1] + 0.5 * rain[t - 1]
    season = 0.5 * np.sin(2 * np.pi * np.arange(n) / 365)
    return level + season + noise


def features(level, k):
    """Raw level and its moving average, side by side."""
    kernel = np.ones(k) / k
    trend = np.convolve(level, kernel, mode="same")
    return np.stack([level, trend], 1)


def windows(feats, target, w):
    xs = np.stack([feats[i:i + w] for i in range(len(feats) - w)])
    ys = target[w:]
    return torch.tensor(xs, dtype=torch.float32), torch.tensor(ys, dtype=torch.float32)


class Forecaster(nn.Module):
    def __init__(self, hidden, layers):
        super().__init__()
        self.rnn = nn.LSTM(2, hidden, layers, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        h, _ = self.rnn(x)
        return self.out(h[:, -1]).squeeze(-1) + x[:, -1, 0]


@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg: DictConfig):
    torch.manual_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    level = gauge(cfg.data.length, rng)
    split = int(cfg.data.train_frac * len(level))
    mu, sd = level[:split].mean(), level[:split].std()
    level = (level - mu) / sd
    feats = features(level, cfg.data.smooth)
    xtr, ytr = windows(feats[:split], level[:split], cfg.data.window)
    xte, yte = windows(feats[split:], level[split:], cfg.data.window)

    loader = DataLoader(TensorDataset(xtr, ytr), cfg.optim.batch_size, shuffle=True)
    net = Forecaster(cfg.model.hidden, cfg.model.layers)
    opt = torch.optim.Adam(net.parameters(), lr=cfg.optim.lr)
    for epoch in range(cfg.optim.epochs):
        net.train()
        total = 0.0
        for x, y in loader:
            loss = nn.functional.mse_loss(net(x), y)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
            total += loss.item() * len(x)
        net.eval()
        with torch.no_grad():
            pred = net(xte)
        rmse = (pred - yte).pow(2).mean().sqrt().item()
        naive = (xte[:, -1, 0] - yte).pow(2).mean().sqrt().item()
        print(f"epoch {epoch + 1} train mse {total / len(xtr):.4f} test rmse {rmse:.4f} (persistence {naive:.4f})", flush=True)


if __name__ == "__main__":
    main()
