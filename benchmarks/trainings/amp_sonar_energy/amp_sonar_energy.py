"""Rock or mine from a sonar echo, float16 autocast with a gradient scaler; one feature is the energy of the echo."""

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


def echoes(n, samples=128):
    """Integer readings of a 10-bit converter; a mine rings on longer than a rock."""
    mine = torch.randint(0, 2, (n,))
    t = torch.linspace(0, 1, samples)
    decay = torch.where(mine == 1, 3.0, 5.0) + 0.5 * torch.randn(n)
    pitch = 20 + 5 * torch.rand(n, 1)
    wave = torch.exp(-decay[:, None] * t) * torch.sin(6.283 * pitch * t)
    return (512 * (wave + 0.1 * torch.randn(n, samples))).round(), mine.float()


class SonarNet(nn.Module):
    def __init__(self, samples=128, hidden=64):
        super().__init__()
        self.bands = nn.Linear(samples, hidden, bias=False)
        self.norm = nn.LayerNorm(hidden)
        self.mlp = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, x):
        band = self.bands(x)
        energy = band * band
        gain = energy.mean(dim=1, keepdim=True)
        h = self.norm(energy / gain)
        return self.mlp(h).squeeze(-1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--lr", type=float, default=2e-3)
    args = parser.parse_args()
    torch.manual_seed(38)
    x, y = echoes(2400)
    x_train, y_train, x_test, y_test = x[:2000], y[:2000], x[2000:], y[2000:]

    model = SonarNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    scaler = torch.amp.GradScaler("cpu")
    for epoch in range(args.epochs):
        model.train()
        losses = []
        for rows in torch.randperm(len(x_train)).split(50):
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.float16):
                logits = model(x_train[rows].half())
                loss = F.binary_cross_entropy_with_logits(logits.float(), y_train[rows])
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            losses.append(loss.item())
        model.eval()
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.float16):
            logits = model(x_test.half())
        acc = ((logits > 0).float() == y_test).float().mean().item()
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f} scale {scaler.get_scale():.3g} test acc {acc:.3f}")


if __name__ == "__main__":
    main()
