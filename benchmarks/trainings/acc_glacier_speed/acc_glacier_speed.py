"""Speed of glaciers from slope, thickness and temperature with accelerate; SGD, momentum and gradient clipping."""

import argparse

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def glaciers(n):
    slope = 0.02 + 0.2 * torch.rand(n)
    thickness = 50 + 250 * torch.rand(n)
    temperature = -12 * torch.rand(n)
    debris = torch.rand(n)
    softness = torch.exp(0.15 * temperature)
    stress = slope * thickness / 20
    speed = softness * stress.clamp(max=2.5) ** 2 * (1 - 0.4 * debris)
    x = torch.stack([slope, thickness, temperature, debris], dim=1)
    x = (x - x.mean(0)) / x.std(0)
    y = torch.log1p(speed) + 0.03 * torch.randn(n)
    return x, ((y - y.mean()) / y.std()).unsqueeze(1)


class SpeedNet(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(4, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1)
        )

    def forward(self, x):
        return self.layers(x)


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.02)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--max-grad-norm", type=float, default=0.001)
    parser.add_argument("--batch-size", type=int, default=50)
    return parser.parse_args()


def main():
    args = parse_args()
    set_seed(65)
    accelerator = Accelerator(cpu=True)
    x, y = glaciers(3000)
    train = DataLoader(TensorDataset(x[:2400], y[:2400]), batch_size=args.batch_size, shuffle=True)
    val = DataLoader(TensorDataset(x[2400:], y[2400:]), batch_size=600)
    model = SpeedNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    model, optimizer, train, val = accelerator.prepare(model, optimizer, train, val)
    criterion = nn.MSELoss()
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for xb, yb in train:
            loss = criterion(model(xb), yb)
            optimizer.zero_grad()
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), args.max_grad_norm)
            optimizer.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            val_loss = sum(criterion(model(xb), yb).item() for xb, yb in val) / len(val)
        if epoch % 3 == 2:
            accelerator.print(f"epoch {epoch:2d} train {total / len(train):.4f} val {val_loss:.4f} R2 {1 - val_loss:.3f}")


if __name__ == "__main__":
    main()
