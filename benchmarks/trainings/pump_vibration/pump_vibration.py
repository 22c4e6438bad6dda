#!/usr/bin/env python
"""Remaining health of a pump from a vibration record (sequence regression with a GRU)."""
import torch
from torch import nn, Tensor
from torch.utils.data import DataLoader, TensorDataset


def simulate(n: int, steps: int, gen: torch.Generator) -> tuple[Tensor, Tensor]:
    """each record: three sensors; wear makes a slow beat louder towards the end"""
    wear = torch.rand(n, generator=gen)
    t = torch.linspace(0, 1, steps)
    freq = 4 + 6 * torch.rand(n, 1, generator=gen)
    base = torch.sin(2 * torch.pi * freq * t + 6.28 * torch.rand(n, 1, generator=gen))
    beat = torch.sin(2 * torch.pi * 1.5 * freq * t) * (wear[:, None] * t) * 1.5
    s0 = base + beat
    s1 = 0.5 * base - 0.7 * beat
    s2 = wear[:, None] * t ** 2 * 0.8 + torch.zeros(n, steps)
    x = torch.stack([s0, s1, s2], dim=-1) + 0.3 * torch.randn(n, steps, 3, generator=gen)
    return x, wear


class HealthModel(nn.Module):
    def __init__(self, n_sensors: int = 3, hidden: int = 32):
        super().__init__()
        self.inp = nn.Linear(n_sensors, 16)
        self.rnn = nn.GRU(16, hidden, num_layers=1)
        self.head = nn.Sequential(nn.Linear(hidden, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, x: Tensor) -> Tensor:
        z = torch.tanh(self.inp(x))
        states, _ = self.rnn(z)
        last = states[:, -1]
        return self.head(last).squeeze(-1)


def run_epoch(model, loader, opt=None):
    training = opt is not None
    model.train(training)
    total, count = 0.0, 0
    with torch.set_grad_enabled(training):
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x), y)
            if training:
                opt.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                opt.step()
            total += loss.item() * len(y)
            count += len(y)
    return total / count


def main():
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(99)
    x_tr, y_tr = simulate(1200, 40, gen)
    x_va, y_va = simulate(400, 40, gen)
    train = DataLoader(TensorDataset(x_tr, y_tr), batch_size=64, shuffle=True)
    valid = DataLoader(TensorDataset(x_va, y_va), batch_size=64)
    model = HealthModel()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(1, 13):
        tr = run_epoch(model, train, opt)
        if epoch % 3 == 0:
            va = run_epoch(model, valid)
            print(f"epoch {epoch:02d} train rmse {tr ** 0.5:.4f} valid rmse {va ** 0.5:.4f}")
    print(f"spread of the target {y_va.std().item():.4f}")


if __name__ == "__main__":
    main()
