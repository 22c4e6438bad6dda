"""Transformer encoder that forecasts road traffic six hours ahead from two days of counts."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

HISTORY, AHEAD = 48, 6


def traffic(days, seed):
    rng = np.random.default_rng(seed)
    hour = np.arange(days * 24)
    daily = np.exp(-((hour % 24 - 8) ** 2) / 6) + 0.8 * np.exp(-((hour % 24 - 17) ** 2) / 10)
    weekend = ((hour // 24) % 7 >= 5).astype(float)
    base = daily * (1 - 0.6 * weekend)
    level = np.repeat(np.exp(rng.normal(0, 0.5, days // 3 + 1)), 72)[: len(hour)]
    return (base * level + rng.normal(0, 0.03, len(hour))).astype(np.float32)


def windows(series):
    rows = range(len(series) - HISTORY - AHEAD)
    x = np.stack([series[i : i + HISTORY] for i in rows])
    y = np.stack([series[i + HISTORY : i + HISTORY + AHEAD] for i in rows])
    return torch.tensor(x).unsqueeze(-1), torch.tensor(y)


class EncoderBlock(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.attention = nn.MultiheadAttention(dim, heads, dropout=0.1)
        self.norm2 = nn.LayerNorm(dim)
        self.feed_forward = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        h = self.norm1(x)
        x = x + self.attention(h, h, h, need_weights=False)[0]
        return x + self.feed_forward(self.norm2(x))


class Forecaster(nn.Module):
    def __init__(self, dim=24, heads=4, depth=1):
        super().__init__()
        self.embed = nn.Linear(1, dim)
        self.position = nn.Parameter(torch.randn(HISTORY, dim) * 0.1)
        self.blocks = nn.Sequential(*[EncoderBlock(dim, heads) for _ in range(depth)])
        self.head = nn.Linear(dim, AHEAD)

    def forward(self, x):
        h = self.blocks(self.embed(x) + self.position)
        return self.head(h[:, -1])


@torch.no_grad()
def test_error(model, loader):
    model.eval()
    total = n = 0
    for x, y in loader:
        total += (model(x) - y).abs().sum().item()
        n += y.numel()
    return total / n


def main():
    torch.manual_seed(44)
    series = traffic(56, 0)
    cut = int(0.8 * len(series))
    mean, std = series[:cut].mean(), series[:cut].std()
    scaled = (series - mean) / std
    train_loader = DataLoader(TensorDataset(*windows(scaled[:cut])), batch_size=64, shuffle=True)
    test_loader = DataLoader(TensorDataset(*windows(scaled[cut:])), batch_size=64)
    x_test, y_test = windows(scaled[cut:])
    yesterday = (x_test[:, -24 : -24 + AHEAD, 0] - y_test).abs().mean().item()
    model = Forecaster()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=6)
    for epoch in range(1, 7):
        model.train()
        losses = []
        for x, y in train_loader:
            loss = nn.functional.l1_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
        scheduler.step()
        if epoch % 2 == 0:
            print(f"epoch {epoch} train {np.mean(losses):.4f} test {test_error(model, test_loader):.4f} (yesterday {yesterday:.4f})")


if __name__ == "__main__":
    main()
