"""Yield of a stirred reactor from its process readings, as they come from the historian."""

import torch
import torch.nn as nn

torch.manual_seed(3)


def historian(n):
    """Pressure in Pa, temperature in K, flow in m3/s, stirrer in rpm, pH."""
    pressure = 1.0e5 + 4.0e5 * torch.rand(n)
    temperature = 320 + 60 * torch.rand(n)
    flow = 1e-3 * (0.5 + torch.rand(n))
    stirrer = 200 + 600 * torch.rand(n)
    ph = 5 + 3 * torch.rand(n)
    readings = torch.stack([pressure, temperature, flow, stirrer, ph], dim=1)
    k = torch.exp(-((temperature - 355) / 18) ** 2)
    yield_ = 0.25 + 0.5 * k * torch.sqrt(pressure / 5e5) - 0.08 * (ph - 6.5) ** 2 + 60 * (flow - 1e-3)
    return readings, (yield_ + 0.01 * torch.randn(n)).unsqueeze(1)


class YieldModel(nn.Module):
    def __init__(self, features=5, width=48):
        super().__init__()
        self.fc1 = nn.Linear(features, width)
        self.fc2 = nn.Linear(width, width)
        self.fc3 = nn.Linear(width, 1)
        self.act = nn.Tanh()

    def forward(self, x):
        x = self.act(self.fc1(x))
        x = self.act(self.fc2(x))
        return self.fc3(x)


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        pred = model(x)
    mae = (pred - y).abs().mean().item()
    r2 = 1 - ((pred - y).pow(2).sum() / (y - y.mean()).pow(2).sum()).item()
    return mae, r2


def main():
    readings, targets = historian(3000)
    x_train, x_val = readings[:2400], readings[2400:]
    y_train, y_val = targets[:2400], targets[2400:]

    model = YieldModel()
    criterion = nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    batch = 50

    for epoch in range(1, 41):
        model.train()
        order = torch.randperm(len(x_train))
        running = 0.0
        for start in range(0, len(order), batch):
            rows = order[start : start + batch]
            optimizer.zero_grad()
            loss = criterion(model(x_train[rows]), y_train[rows])
            loss.backward()
            optimizer.step()
            running += loss.item()
        if epoch % 10 == 0:
            mae, r2 = evaluate(model, x_val, y_val)
            print(f"epoch {epoch}: loss {running / (len(order) / batch):.5f}, val MAE {mae:.4f}, val R2 {r2:.3f}")


if __name__ == "__main__":
    main()
