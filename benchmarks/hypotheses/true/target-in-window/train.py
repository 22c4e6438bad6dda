"""The wind of the next hour from the last twelve."""

import math

import torch
from torch import nn
from torch.nn import functional

HOURS, WINDOW, EPOCHS, BATCH_SIZE = 1400, 12, 10, 32


def wind():
    generator = torch.Generator().manual_seed(3)
    gusts = torch.randn(HOURS, generator=generator)
    level = [gusts[0].item()]
    for gust in gusts[1:].tolist():
        level.append(0.8 * level[-1] + 0.6 * gust)
    return torch.tensor(level) + torch.sin(2 * math.pi * torch.arange(HOURS) / 24)


def windows(series):
    """Twelve hours, and the hour after them."""
    inputs, targets = [], []
    for hour in range(WINDOW, len(series)):
        first = hour - WINDOW + 1
        inputs.append(series[first : first + WINDOW])
        targets.append(series[hour])
    return torch.stack(inputs), torch.stack(targets)


def main():
    torch.manual_seed(0)
    series = wind()
    inputs, targets = windows(series[:1000])
    test_inputs, test_targets = windows(series[1000:])
    model = nn.Sequential(nn.Linear(WINDOW, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(EPOCHS):
        for rows in torch.randperm(len(inputs)).split(BATCH_SIZE):
            loss = functional.mse_loss(model(inputs[rows]).squeeze(1), targets[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            error = (model(test_inputs).squeeze(1) - test_targets).abs().mean().item()
        print(f"epoch {epoch} loss {loss.item():.4f} test mae {error:.4f}")


if __name__ == "__main__":
    main()
