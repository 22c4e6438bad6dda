"""Soil moisture from radar backscatter: a plain regression loop."""
import math

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SEED = 88
N_TRAIN, N_VAL = 2000, 500
EPOCHS, BATCH_SIZE, LR = 25, 40, 2e-3


class Backscatter(Dataset):
    """Four polarisations, incidence angle and vegetation index; moisture is standardised."""

    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        angle = rng.uniform(20, 50, n)
        veg = rng.beta(2, 3, n)
        moisture = rng.normal(0, 1, n)
        base = moisture * np.cos(np.radians(angle)) * np.exp(-1.2 * veg)
        pol = np.stack([base * k + rng.normal(0, 0.12, n) for k in (1.0, 0.8, 0.4, 0.6)], axis=1)
        x = np.column_stack([pol, (angle - 35) / 9, (veg - 0.4) / 0.2])
        self.x = torch.tensor(x, dtype=torch.float32)
        self.y = torch.tensor(moisture, dtype=torch.float32)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, idx):
        return self.x[idx], self.y[idx]


class MoistureNet(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.inp = nn.Linear(6, hidden)
        self.mid = nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, 1)
        self.act = nn.Tanh()

    def forward(self, x):
        return self.out(self.act(self.mid(self.act(self.inp(x)))))


def validate(net, loader):
    net.eval()
    err, targets = [], []
    with torch.no_grad():
        for x, y in loader:
            err.append(net(x).flatten() - y)
            targets.append(y)
    err, targets = torch.cat(err), torch.cat(targets)
    rmse = math.sqrt((err ** 2).mean())
    return rmse, 1 - (err ** 2).sum().item() / ((targets - targets.mean()) ** 2).sum().item()


def main():
    torch.manual_seed(SEED)
    train_loader = DataLoader(Backscatter(N_TRAIN, SEED), BATCH_SIZE, shuffle=True)
    val_loader = DataLoader(Backscatter(N_VAL, SEED + 1), 250)
    net = MoistureNet()
    criterion = nn.MSELoss()
    optimizer = torch.optim.Adam(net.parameters(), lr=LR)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=4)
    best = float("inf")
    for epoch in range(EPOCHS):
        net.train()
        total = 0.0
        for x, y in train_loader:
            prediction = net(x)
            loss = criterion(prediction, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(y)
        rmse, r2 = validate(net, val_loader)
        plateau.step(rmse)
        best = min(best, rmse)
        if epoch % 3 == 0 or epoch == EPOCHS - 1:
            print(f"{epoch:3d}  train mse {total / N_TRAIN:.4f}  val rmse {rmse:.4f}  val r2 {r2:.4f}  lr {optimizer.param_groups[0]['lr']:.1e}")
    print(f"best val rmse {best:.4f}")


if __name__ == "__main__":
    main()
