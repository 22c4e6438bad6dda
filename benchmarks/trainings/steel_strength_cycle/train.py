"""Tensile-strength class from alloy composition. All settings live in conf/default.yaml."""
from pathlib import Path

import numpy as np
import torch
import yaml
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

cfg = yaml.safe_load((Path(__file__).parent / "conf" / "default.yaml").read_text())


def alloy_table(n, noise, seed):
    rng = np.random.default_rng(seed)
    comp = rng.dirichlet([4, 2, 2, 1, 1, 1], size=n)
    temp = rng.uniform(200, 700, size=(n, 1))
    hard = 6 * comp[:, 1] + 3 * comp[:, 2] * (temp[:, 0] / 500) - 4 * comp[:, 3] ** 0.5
    hard += 2 * np.sin(12 * comp[:, 4]) + noise * rng.normal(size=n)
    return np.hstack([comp, temp]).astype("float32"), hard


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width, width), nn.Linear(width, width)
        self.bn1, self.bn2 = nn.BatchNorm1d(width), nn.BatchNorm1d(width)

    def forward(self, x):
        return x + self.fc2(torch.relu(self.bn2(self.fc1(torch.relu(self.bn1(x))))))


def build(n_in, n_out, width, depth):
    return nn.Sequential(
        nn.Linear(n_in, width), *[Residual(width) for _ in range(depth)], nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, n_out)
    )


def main():
    torch.manual_seed(cfg["seed"])
    d, o, t = cfg["data"], cfg["optim"], cfg["train"]
    x, hard = alloy_table(d["samples"] + d["valid"], d["noise"], cfg["seed"])
    x_tr, x_va = x[: d["samples"]], x[d["samples"] :]
    edges = np.quantile(hard[: d["samples"]], [0.25, 0.5, 0.75])
    y = np.digitize(hard, edges)
    mu, sd = x_tr.mean(0), x_tr.std(0)
    train = TensorDataset(torch.from_numpy((x_tr - mu) / sd), torch.from_numpy(y[: d["samples"]]))
    x_va, y_va = torch.from_numpy((x_va - mu) / sd), torch.from_numpy(y[d["samples"] :])
    loader = DataLoader(train, batch_size=t["batch_size"], shuffle=True, drop_last=True)

    model = build(x.shape[1], 4, **cfg["model"])
    optimizer = torch.optim.SGD(
        model.parameters(), lr=o["max_lr"], momentum=o["momentum"], weight_decay=o["weight_decay"], nesterov=True
    )
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=o["max_lr"], epochs=t["epochs"], steps_per_epoch=len(loader),
        pct_start=t["pct_start"], cycle_momentum=True, base_momentum=0.8, max_momentum=0.9,
    )
    criterion = nn.CrossEntropyLoss(label_smoothing=0.05)

    for epoch in range(t["epochs"]):
        model.train()
        total = 0.0
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), o["clip"])
            optimizer.step()
            scheduler.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            acc = (model(x_va).argmax(1) == y_va).float().mean().item()
        print(f"epoch {epoch + 1:2d} lr {scheduler.get_last_lr()[0]:.4f} loss {total / len(loader):.4f} val acc {acc:.3f}")


if __name__ == "__main__":
    main()
