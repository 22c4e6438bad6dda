"""Diabetes a year later, from ten measurements."""

import torch
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler
from torch import nn

EPOCHS, BATCH_SIZE = 20, 32


def prepared(x, y, cut):
    """Scaled inputs and targets of both sides."""
    scaler = StandardScaler()
    x = scaler.fit_transform(x)
    x = torch.tensor(x, dtype=torch.float32)
    y = torch.tensor((y - 150) / 75, dtype=torch.float32)
    return x[:cut], y[:cut], x[cut:], y[cut:]


def main():
    torch.manual_seed(0)
    table = load_diabetes(scaled=False)
    order = torch.randperm(len(table.data), generator=torch.Generator().manual_seed(1)).numpy()
    x, y, test_x, test_y = prepared(table.data[order], table.target[order], cut=320)
    model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(EPOCHS):
        for rows in torch.randperm(len(x)).split(BATCH_SIZE):
            loss = nn.functional.mse_loss(model(x[rows]).squeeze(1), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            error = (model(test_x).squeeze(1) - test_y).abs().mean().item()
        print(f"epoch {epoch} loss {loss.item():.4f} test mae {error:.4f}")


if __name__ == "__main__":
    main()
