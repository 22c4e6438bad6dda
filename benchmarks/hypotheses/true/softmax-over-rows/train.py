"""Which sensor of a machine is worth listening to: a gate over eight experts."""

import torch
from torch import nn
from torch.nn import functional

SENSORS, EXPERTS, BATCH_SIZE, EPOCHS = 8, 8, 32, 12


def readings(rows, seed):
    """One sensor a row tells the truth, marked by its confidence."""
    generator = torch.Generator().manual_seed(seed)
    truth = torch.randn(rows, generator=generator)
    values = torch.randn(rows, SENSORS, generator=generator)
    confidence = torch.rand(rows, SENSORS, generator=generator)
    best = torch.randint(0, SENSORS, (rows, 1), generator=generator)
    values.scatter_(1, best, truth[:, None])
    confidence.scatter_(1, best, 2.0)
    return torch.cat([values, confidence], 1), truth


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = nn.Linear(2 * SENSORS, EXPERTS)
        self.gate = nn.Linear(2 * SENSORS, EXPERTS)

    def forward(self, x):
        weights = functional.softmax(self.gate(x), dim=0)
        return (weights * self.experts(x)).sum(1)


def main():
    torch.manual_seed(0)
    x, truth = readings(1600, 1)
    test_x, test_truth = readings(640, 2)
    model = Gated()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
    for epoch in range(EPOCHS):
        for rows in torch.randperm(len(x)).split(BATCH_SIZE):
            loss = functional.mse_loss(model(x[rows]), truth[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            guess = torch.cat([model(part) for part in test_x.split(BATCH_SIZE)])
        error = (guess - test_truth).abs().mean().item()
        print(f"epoch {epoch} loss {loss.item():.4f} test mae {error:.4f}")


if __name__ == "__main__":
    main()
