#!/usr/bin/env python
"""Crop yield regression. Usage: python train.py [configs/base.yaml]"""
import pathlib
import sys
from types import SimpleNamespace

import torch
import yaml
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

HERE = pathlib.Path(__file__).parent


def to_namespace(d):
    return SimpleNamespace(**{k: to_namespace(v) if isinstance(v, dict) else v for k, v in d.items()})


def load_config(path):
    with open(path) as f:
        return to_namespace(yaml.safe_load(f))


def build_data(cfg):
    g = torch.Generator().manual_seed(cfg.run.seed)
    n = cfg.data.rows + cfg.data.test_rows
    x = torch.randn(n, cfg.data.features, generator=g)
    rain, heat, soil = x[:, 0], x[:, 1], x[:, 2]
    w = torch.randn(cfg.data.features, generator=g) * 0.3
    y = 2 * torch.exp(-(rain - 0.3) ** 2) * torch.sigmoid(2 * soil) - 0.6 * torch.relu(heat - 0.5) ** 2 + x @ w
    y = 0.4 * (y + 0.15 * torch.randn(n, generator=g))
    full = TensorDataset(x, y.unsqueeze(1))
    return random_split(full, [cfg.data.rows, cfg.data.test_rows], generator=g)


def build_model(cfg):
    act = {"gelu": nn.GELU, "relu": nn.ReLU, "tanh": nn.Tanh}[cfg.model.activation]
    layers, d = [], cfg.data.features
    for w in cfg.model.widths:
        layers += [nn.Linear(d, w), act(), nn.Dropout(cfg.model.dropout)]
        d = w
    return nn.Sequential(*layers, nn.Linear(d, 1))


def build_optimizer(cfg, model):
    classes = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD, "rmsprop": torch.optim.RMSprop}
    return classes[cfg.optim.name](model.parameters(), lr=cfg.optim.lr, weight_decay=cfg.optim.weight_decay)


def evaluate(model, loader):
    model.eval()
    se, ys = 0.0, []
    with torch.no_grad():
        for x, y in loader:
            se += (model(x) - y).pow(2).sum().item()
            ys.append(y)
    ys = torch.cat(ys)
    return 1 - se / (ys - ys.mean()).pow(2).sum().item()


def main(path):
    cfg = load_config(path)
    torch.manual_seed(cfg.run.seed)
    train_set, test_set = build_data(cfg)
    train_loader = DataLoader(train_set, cfg.optim.batch_size, shuffle=True)
    test_loader = DataLoader(test_set, 500)
    model = build_model(cfg)
    optimizer = build_optimizer(cfg, model)
    print(f"{cfg.run.name}: {sum(p.numel() for p in model.parameters())} parameters")
    for epoch in range(1, cfg.optim.epochs + 1):
        model.train()
        total = 0.0
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
        print(f"epoch {epoch:02d}  train mse {total / len(train_set):.4f}  test r2 {evaluate(model, test_loader):.4f}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else HERE / "configs" / "base.yaml")
