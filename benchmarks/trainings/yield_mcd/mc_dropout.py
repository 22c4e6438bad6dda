"""Crop yield with Monte-Carlo dropout: dropout stays on at prediction time to get an uncertainty."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

SEED, SAMPLES = 20, 60


def fields(n, seed, low=-2.0, high=2.0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(low, high, (n, 4))
    y = np.sin(1.5 * x[:, 0]) + 0.5 * x[:, 1] - 0.4 * x[:, 2] ** 2 + 0.1 * rng.normal(size=n)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)


class YieldNet(nn.Module):
    def __init__(self, hidden=96, p=0.1):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(4, hidden), nn.ReLU(), nn.Dropout(p),
            nn.Linear(hidden, hidden), nn.ReLU(), nn.Dropout(p),
            nn.Linear(hidden, 1),
        )

    def forward(self, x):
        return self.net(x).squeeze(-1)


def enable_mc_dropout(model):
    """Everything in eval mode except the dropout layers, as Gal and Ghahramani describe."""
    model.eval()
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.train()


@torch.no_grad()
def predict_with_uncertainty(model, x, samples=SAMPLES):
    enable_mc_dropout(model)
    draws = torch.stack([model(x) for _ in range(samples)])
    return draws.mean(0), draws.std(0)


def main():
    torch.manual_seed(SEED)
    x, y = fields(2000, 0)
    x_val, y_val = fields(500, 1)
    x_far, _ = fields(500, 2, low=4.0, high=6.0)
    loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)
    model = YieldNet()
    opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-4)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 40)
    for epoch in range(1, 41):
        model.train()
        total = 0.0
        for xb, yb in loader:
            loss = nn.functional.mse_loss(model(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        sched.step()
        if epoch % 8 == 0:
            model.eval()
            with torch.no_grad():
                plain = (model(x_val) - y_val).pow(2).mean().sqrt().item()
            mean, std = predict_with_uncertainty(model, x_val)
            mc = (mean - y_val).pow(2).mean().sqrt().item()
            print(f"epoch {epoch:2d} train mse {total / len(loader):.4f} val rmse plain {plain:.4f} mc {mc:.4f} mean std {std.mean().item():.4f}")
    _, near = predict_with_uncertainty(model, x_val)
    _, far = predict_with_uncertainty(model, x_far)
    print(f"spread inside the data {near.mean().item():.3f}, far outside {far.mean().item():.3f}")


if __name__ == "__main__":
    main()
