"""Temperature of a lake tomorrow: dilated causal convolutions. Time goes one way, so nothing is shuffled."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(48)
rng = np.random.default_rng(48)


def lake(days=2200):
    day = np.arange(days)
    season = 10 + 8 * np.sin(2 * np.pi * (day - 110) / 365)
    weather = np.zeros(days)
    for i in range(2, days):
        weather[i] = 1.5 * weather[i - 1] - 0.8 * weather[i - 2] + rng.normal(0, 0.5)
    return (season + weather + rng.normal(0, 0.1, days)).astype(np.float32)


class Windows(Dataset):
    def __init__(self, series, width=32):
        self.series, self.width = torch.from_numpy(series), width

    def __len__(self):
        return len(self.series) - self.width

    def __getitem__(self, i):
        return self.series[i : i + self.width].unsqueeze(0), self.series[i + self.width]


class CausalConv(nn.Module):
    def __init__(self, a, b, dilation):
        super().__init__()
        self.pad = 2 * dilation
        self.conv = nn.utils.parametrizations.weight_norm(nn.Conv1d(a, b, 3, dilation=dilation))

    def forward(self, x):
        return torch.relu(self.conv(nn.functional.pad(x, (self.pad, 0))))


class TCN(nn.Module):
    """Predicts the change since the last day: its last layer starts at zero, as the forecast 'as today'."""

    def __init__(self, width=24):
        super().__init__()
        self.layers = nn.Sequential(*(CausalConv(1 if i == 0 else width, width, 2**i) for i in range(4)))
        self.out = nn.Linear(width, 1)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, x):
        centred = (x - 10.0) / 8.0
        return x[:, 0, -1] + self.out(self.layers(centred)[..., -1]).squeeze(-1)


series = lake()
train, val, test = series[:1460], series[1460 - 32 : 1825], series[1825 - 32 :]
train_loader = DataLoader(Windows(train), batch_size=32, shuffle=False)  # in order, as the days came
val_loader, test_loader = DataLoader(Windows(val), batch_size=256), DataLoader(Windows(test), batch_size=256)

model = TCN()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
criterion = nn.HuberLoss(delta=1.0)


@torch.no_grad()
def rmse(loader):
    model.eval()
    errors = torch.cat([model(x) - y for x, y in loader])
    return errors.pow(2).mean().sqrt().item()


print(f"as today: val {rmse(val_loader):.3f} test {rmse(test_loader):.3f}")
for epoch in range(15):
    model.train()
    total = 0.0
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    if epoch % 3 == 2:
        print(f"epoch {epoch:2d} loss {total / len(train_loader):.4f} val RMSE {rmse(val_loader):.3f}")
print(f"test RMSE {rmse(test_loader):.3f}; the weather's own noise is 0.5")
