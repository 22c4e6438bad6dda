"""Frequency of a spring from mass, stiffness and damping: a small net and L-BFGS on all rows, step size 1."""

import argparse
from pathlib import Path

import torch
import yaml
from torch import nn

FILE = Path(__file__).with_name("yaml_spring_lbfgs.yaml")


def springs(n, noise, generator):
    mass = 0.5 + 2 * torch.rand(n, generator=generator)
    stiffness = 5 + 45 * torch.rand(n, generator=generator)
    damping = 0.1 + 0.9 * torch.rand(n, generator=generator)
    omega = torch.sqrt(stiffness / mass - (damping / (2 * mass)) ** 2)
    x = torch.stack([mass, stiffness, damping], dim=1)
    return x, (omega + noise * torch.randn(n, generator=generator)).unsqueeze(1)


class Standardised(nn.Module):
    """Keeps mean and spread of its inputs with the weights, so that nobody can forget them."""

    def __init__(self, x, hidden):
        super().__init__()
        self.register_buffer("mean", x.mean(0))
        self.register_buffer("std", x.std(0))
        self.net = nn.Sequential(
            nn.Linear(x.shape[1], hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 1)
        )

    def forward(self, x):
        return self.net((x - self.mean) / self.std)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", type=Path, default=FILE)
    config = yaml.safe_load(parser.parse_args().config.read_text())
    torch.manual_seed(config["seed"])
    generator = torch.Generator().manual_seed(config["seed"])
    x, y = springs(config["springs"], config["noise"], generator)
    x_val, y_val = springs(200, config["noise"], generator)

    model = Standardised(x, config["hidden"])
    criterion = nn.MSELoss()
    optimizer = torch.optim.LBFGS(model.parameters(), **config["lbfgs"])

    def closure():
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        return loss

    # Twenty inner iterations in each round, so fifteen rounds are enough.
    for number in range(1, config["rounds"] + 1):
        loss = optimizer.step(closure)
        with torch.no_grad():
            val = criterion(model(x_val), y_val)
        if number % 3 == 0:
            print(f"round {number:2d} loss {loss.item():.6f} val {val.item():.6f} R2 {1 - (val / y_val.var()).item():.5f}")
    print(f"variance of the noise {config['noise'] ** 2:.6f}")


if __name__ == "__main__":
    main()
