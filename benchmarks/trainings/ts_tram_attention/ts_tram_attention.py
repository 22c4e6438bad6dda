"""Passengers of the next half hour from the last twelve, with a transformer encoder over time."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(31)
WINDOW = 12


def counts(lines=60, length=120):
    """Every line has its own rhythm and size; the next value follows from the line's own past."""
    t = torch.arange(length).float()
    period = 8 + 16 * torch.rand(lines, 1)
    phase = 6.283 * torch.rand(lines, 1)
    size = 0.5 + torch.rand(lines, 1)
    wave = size * torch.sin(6.283 * t / period + phase) + 0.3 * torch.sin(12.566 * t / period)
    return wave + 0.05 * torch.randn(lines, length)


def windows(series):
    cut = series.unfold(1, WINDOW + 1, 1)
    return cut[..., :-1].reshape(-1, WINDOW, 1), cut[..., -1].reshape(-1, 1)


class Forecaster(nn.Module):
    def __init__(self, width=32, heads=4, layers=2):
        super().__init__()
        self.inp = nn.Linear(1, width)
        self.place = nn.Parameter(0.1 * torch.randn(WINDOW, 1, width))
        layer = nn.TransformerEncoderLayer(width, heads, 64, dropout=0.0, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        h = self.inp(x).transpose(0, 1) + self.place
        h = self.norm(self.encoder(h))
        return self.out(h[-1])


series = counts()
series = series / series.std()
x_train, y_train = windows(series[:48, :100])
x_test, y_test = windows(series[48:, :])
train = DataLoader(TensorDataset(x_train, y_train), batch_size=64, shuffle=True, drop_last=True)
test = DataLoader(TensorDataset(x_test, y_test), batch_size=64)

model = Forecaster()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
criterion = nn.MSELoss()


def evaluate():
    model.eval()
    total, count = 0.0, 0
    with torch.no_grad():
        for x, y in test:
            total += criterion(model(x), y).item() * len(y)
            count += len(y)
    return total / count


persistence = (x_test[:, -1] - y_test).pow(2).mean().item()
for epoch in range(5):
    model.train()
    running = 0.0
    for x, y in train:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        running += loss.item()
    print(f"epoch {epoch} train {running / len(train):.4f} test {evaluate():.4f} (last value: {persistence:.4f})")
