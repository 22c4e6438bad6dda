"""Grade of a cheese from nine panel scores and its chemistry; everything that can be chosen stands in a YAML file."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch
import yaml
from torch import nn


def load_config(path):
    def nest(value):
        if isinstance(value, dict):
            return SimpleNamespace(**{key: nest(item) for key, item in value.items()})
        return value

    return nest(yaml.safe_load(Path(path).read_text()))


def taste(cfg):
    rng = np.random.default_rng(cfg.seed)
    n = cfg.batches
    ripeness = rng.uniform(0, 1, n)
    salt = rng.normal(1.8, 0.3, n)
    fat = rng.normal(27, 3, n)
    panel = ripeness[:, None] * 6 + rng.normal(0, 1.2, (n, cfg.panel)) - np.abs(salt - 1.8)[:, None]
    chem = np.stack([salt, fat, rng.normal(5.2, 0.1, n)], axis=1)
    merit = 4 * ripeness * (1 - 0.6 * ripeness) - 2 * np.abs(salt - 1.8) + 0.05 * (fat - 27)
    grade = np.digitize(merit, np.quantile(merit, [0.33, 0.66]))
    x = np.concatenate([panel, chem], axis=1)
    x = (x - x[: int(0.75 * n)].mean(0)) / x[: int(0.75 * n)].std(0)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(grade)


class GradeNet(nn.Module):
    def __init__(self, inputs, widths, keep, grades=3):
        super().__init__()
        layers = []
        for width in widths:
            layers += [nn.Linear(inputs, width), nn.ReLU(), nn.Dropout(keep)]
            inputs = width
        self.layers = nn.Sequential(*layers, nn.Linear(inputs, grades))

    def forward(self, x):
        return self.layers(x)


cfg = load_config(Path(__file__).with_suffix(".yaml"))
torch.manual_seed(cfg.data.seed)
x, y = taste(cfg.data)
cut = int(0.75 * len(x))

model = GradeNet(x.shape[1], cfg.model.widths, cfg.model.keep)
optimizer = getattr(torch.optim, cfg.optim.name)(model.parameters(), lr=cfg.optim.lr)
criterion = nn.CrossEntropyLoss()

for epoch in range(1, cfg.train.epochs + 1):
    model.train()
    running = 0.0
    batches = torch.randperm(cut).split(cfg.train.batch_size)
    for rows in batches:
        optimizer.zero_grad()
        loss = criterion(model(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
        running += loss.item()
    model.eval()
    with torch.no_grad():
        logits = model(x[cut:])
        val_loss = criterion(logits, y[cut:]).item()
        val_acc = (logits.argmax(1) == y[cut:]).float().mean().item()
    if epoch % 4 == 0:
        print(f"epoch {epoch} loss {running / len(batches):.3f} val_loss {val_loss:.3f} val_acc {val_acc:.3f}")
