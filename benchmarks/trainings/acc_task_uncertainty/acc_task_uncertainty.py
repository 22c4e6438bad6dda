"""Three targets of very different units under accelerate, weighted by learned uncertainties: the loss goes below zero."""

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

UNITS = ("bar", "kelvin", "percent")


def compressor(n):
    x = torch.rand(n, 5) * 2 - 1
    ratio = 3 + x[:, 0] + 0.5 * x[:, 1] ** 2
    heat = 380 + 60 * torch.tanh(x[:, 0] + x[:, 2]) + 5 * x[:, 3]
    efficiency = 0.8 - 0.1 * (x[:, 0] - x[:, 4]) ** 2
    y = torch.stack([ratio, heat, efficiency], dim=1)
    return x, y + torch.tensor([0.02, 1.0, 0.002]) * torch.randn(n, 3)


class MultiTask(nn.Module):
    """Targets stay in their own units; each has a scale of its own, kept as a buffer with the weights."""

    def __init__(self, mean, std, width=64):
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("std", std)
        self.trunk = nn.Sequential(nn.Linear(5, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU())
        self.heads = nn.ModuleList(nn.Linear(width, 1) for _ in UNITS)
        self.log_var = nn.Parameter(torch.zeros(len(UNITS)))

    def forward(self, x):
        h = self.trunk(x)
        return torch.cat([head(h) for head in self.heads], dim=1) * self.std + self.mean

    def loss(self, prediction, target):
        error = ((prediction - target) / self.std).pow(2).mean(0)
        return (0.5 * error / self.log_var.exp() + 0.5 * self.log_var).sum(), error


def main():
    set_seed(5)
    accelerator = Accelerator(cpu=True)
    x, y = compressor(3000)
    train = DataLoader(TensorDataset(x[:2400], y[:2400]), batch_size=48, shuffle=True)
    test = DataLoader(TensorDataset(x[2400:], y[2400:]), batch_size=600)
    model = MultiTask(y[:2400].mean(0), y[:2400].std(0))
    groups = [
        {"params": [p for n, p in model.named_parameters() if n != "log_var"], "lr": 3e-3},
        {"params": [model.log_var], "lr": 2e-2},
    ]
    optimizer = torch.optim.Adam(groups)
    model, optimizer, train, test = accelerator.prepare(model, optimizer, train, test)
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[8, 11], gamma=0.3)
    for epoch in range(13):
        model.train()
        total = 0.0
        for xb, yb in train:
            loss, _ = accelerator.unwrap_model(model).loss(model(xb), yb)
            optimizer.zero_grad()
            accelerator.backward(loss)
            optimizer.step()
            total += loss.item()
        schedule.step()
        model.eval()
        with torch.no_grad():
            xb, yb = next(iter(test))
            rmse = (model(xb) - yb).pow(2).mean(0).sqrt()
        if epoch % 3 == 0:
            shown = ", ".join(f"{value:.3f} {unit}" for value, unit in zip(rmse.tolist(), UNITS))
            accelerator.print(f"epoch {epoch:2d} loss {total / len(train):+.3f} test RMSE {shown}")


if __name__ == "__main__":
    main()
