"""A level of demand that nine days of ten stay below (quantile regression)."""

import torch
from torch import nn

QUANTILE, EPOCHS, BATCH_SIZE = 0.9, 12, 50


def days(rows, seed):
    generator = torch.Generator().manual_seed(seed)
    x = torch.rand(rows, 3, generator=generator) * 2 - 1
    spread = 0.3 + 0.5 * x[:, 1].abs()
    return x, (2 * x[:, 0] + spread * torch.randn(rows, generator=generator))[:, None]


def quantile_loss(level, demand):
    missing = demand - level
    return torch.maximum(QUANTILE * missing, (QUANTILE - 1) * missing).mean()


def main():
    torch.manual_seed(0)
    x, demand = days(1500, 1)
    test_x, test_demand = days(1500, 2)
    model = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(EPOCHS):
        for rows in torch.randperm(len(x)).split(BATCH_SIZE):
            loss = quantile_loss(model(x[rows]), demand[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            level = model(test_x)
            below = (test_demand < level).float().mean().item()
        print(f"epoch {epoch} loss {loss.item():.4f} test mae {(test_demand - level).abs().mean().item():.4f}")
    print(f"days below the level: {below:.3f}")


if __name__ == "__main__":
    main()
