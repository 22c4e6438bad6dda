"""Predict building energy demand from eight design variables."""

import logging

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("energy")


class BuildingData(Dataset):
    """Simulated buildings: the demand depends on glazing, volume and orientation."""

    def __init__(self, n, seed, stats=None):
        rng = np.random.default_rng(seed)
        x = rng.uniform(-1, 1, size=(n, 8)).astype(np.float32)
        demand = 3 * np.sin(2 * x[:, 0]) + 2 * x[:, 1] * x[:, 2] - 1.5 * x[:, 3] ** 2 + x[:, 4]
        demand += 0.1 * rng.standard_normal(n)
        self.stats = stats or (demand.mean(), demand.std())
        self.x = torch.from_numpy(x)
        self.y = torch.from_numpy(((demand - self.stats[0]) / self.stats[1]).astype(np.float32))

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class Regressor(nn.Module):
    def __init__(self, inputs=8, hidden=64):
        super().__init__()
        self.fc1 = nn.Linear(inputs, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.out(x)


def r2_score(model, loader):
    model.eval()
    preds, targets = [], []
    with torch.no_grad():
        for x, y in loader:
            preds.append(model(x).flatten())
            targets.append(y)
    p, t = torch.cat(preds), torch.cat(targets)
    return 1 - ((p - t) ** 2).sum().item() / ((t - t.mean()) ** 2).sum().item()


def train_one_epoch(model, loader, optimizer):
    model.train()
    total = 0.0
    for x, y in loader:
        pred = model(x)
        loss = F.mse_loss(pred, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(loader)


if __name__ == "__main__":
    torch.manual_seed(0)
    train_set = BuildingData(3000, seed=1)
    val_set = BuildingData(800, seed=2, stats=train_set.stats)
    train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=256)

    net = Regressor()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for epoch in range(1, 16):
        mse = train_one_epoch(net, train_loader, opt)
        if epoch % 3 == 0:
            log.info("epoch %02d mse %.4f val r2 %.3f", epoch, mse, r2_score(net, val_loader))
