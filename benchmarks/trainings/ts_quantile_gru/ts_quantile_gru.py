"""Wind power: three quantiles at once from a GRU that carries its state over batches, cut off from the old graph."""

import math

import torch
from torch import nn

torch.manual_seed(64)
QUANTILES = torch.tensor([0.1, 0.5, 0.9])


def farm(length, turbines=16):
    """Wind as a slow random walk pulled to the mean; power saturates; noise grows with it."""
    wind = torch.zeros(turbines, length)
    for t in range(1, length):
        wind[:, t] = 0.95 * wind[:, t - 1] + 0.3 * torch.randn(turbines)
    power = torch.sigmoid(2 * wind)
    noise = 0.05 + 0.15 * power
    hour = torch.arange(length) * (2 * math.pi / 24)
    clock = torch.stack([hour.sin(), hour.cos()], -1).expand(turbines, -1, -1)
    observed = power + noise * torch.randn(turbines, length)
    return torch.cat([observed.unsqueeze(-1), clock], dim=-1)


def pinball(prediction, target):
    error = target.unsqueeze(-1) - prediction
    return torch.maximum(QUANTILES * error, (QUANTILES - 1) * error).mean()


class QuantileGRU(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.gru = nn.GRU(3, hidden, batch_first=True)
        self.middle = nn.Linear(hidden, 1)
        self.widths = nn.Linear(hidden, 2)

    def forward(self, x, state):
        h, state = self.gru(x, state)
        middle = self.middle(h)
        below, above = nn.functional.softplus(self.widths(h)).chunk(2, dim=-1)
        return torch.cat([middle - below, middle, middle + above], dim=-1), state


data = farm(1200)
train, test = data[:, :900], data[:, 900:]
model = QuantileGRU()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
CHUNK = 30

for epoch in range(1, 9):
    model.train()
    state, total, chunks = None, 0.0, 0
    for start in range(0, train.shape[1] - CHUNK, CHUNK):
        x, y = train[:, start : start + CHUNK], train[:, start + 1 : start + CHUNK + 1, 0]
        prediction, state = model(x, state)
        state = state.detach()  # truncated backpropagation: the value goes on, its history does not
        loss = pinball(prediction, y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total, chunks = total + loss.item(), chunks + 1
    model.eval()
    with torch.no_grad():
        prediction, _ = model(test[:, :-1], None)
        target = test[:, 1:, 0]
        covered = ((target > prediction[..., 0]) & (target < prediction[..., 2])).float().mean().item()
        print(f"epoch {epoch} pinball {total / chunks:.4f} test {pinball(prediction, target).item():.4f} in the band {covered:.3f}")
constant = torch.quantile(train[..., 0], QUANTILES).expand(*target.shape, 3)
print(f"constant quantiles {pinball(constant, target).item():.4f}; the band should hold 0.8")
