"""Soil type from spectra; everything tunable stands in yaml_soil.yaml."""
from pathlib import Path

import numpy as np
import torch
import yaml
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def load_config():
    return yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text())


def spectra(cfg):
    rng = np.random.default_rng(cfg["seed"])
    grid = np.linspace(0, 1, cfg["bands"])
    prototypes = []
    for _ in range(cfg["classes"]):
        bumps = [(rng.uniform(0, 1), rng.uniform(0.03, 0.12), rng.uniform(-1, 1)) for _ in range(6)]
        prototypes.append(sum(a * np.exp(-((grid - c) ** 2) / (2 * w**2)) for c, w, a in bumps))
    y = rng.integers(0, cfg["classes"], cfg["samples"])
    gain = rng.uniform(0.6, 1.4, (cfg["samples"], 1))
    x = gain * np.stack(prototypes)[y] + rng.normal(0, cfg["noise"], (cfg["samples"], cfg["bands"]))
    return x.astype(np.float32), y


def make_net(cfg):
    sizes = [cfg["bands"], *cfg["hidden"]]
    layers = []
    for n_in, n_out in zip(sizes[:-1], sizes[1:]):
        layers += [nn.Linear(n_in, n_out), nn.LayerNorm(n_out), nn.GELU()]
    layers.append(nn.Linear(sizes[-1], cfg["classes"]))
    return nn.Sequential(*layers)


def make_optimizer(net, cfg):
    kinds = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}
    options = dict(cfg)
    return kinds[options.pop("name")](net.parameters(), **options)


class Meter:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def add(self, value, n):
        self.total += value * n
        self.count += n

    @property
    def mean(self):
        return self.total / max(1, self.count)


def epoch_pass(net, loader, criterion, optimizer=None):
    net.train(optimizer is not None)
    loss_meter, acc_meter = Meter(), Meter()
    with torch.set_grad_enabled(optimizer is not None):
        for x, y in loader:
            logits = net(x)
            loss = criterion(logits, y)
            if optimizer is not None:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            loss_meter.add(loss.item(), len(y))
            acc_meter.add((logits.argmax(1) == y).float().mean().item(), len(y))
    return loss_meter.mean, acc_meter.mean


def main():
    cfg = load_config()
    torch.manual_seed(cfg["seed"])
    x, y = spectra(cfg["data"])
    x_train, x_val, y_train, y_val = train_test_split(x, y, test_size=0.25, random_state=cfg["seed"], stratify=y)
    mean, std = x_train.mean(0), x_train.std(0) + 1e-6
    train = TensorDataset(torch.from_numpy((x_train - mean) / std), torch.from_numpy(y_train))
    val = TensorDataset(torch.from_numpy((x_val - mean) / std), torch.from_numpy(y_val))
    train_loader = DataLoader(train, batch_size=cfg["training"]["batch_size"], shuffle=True)
    val_loader = DataLoader(val, batch_size=512)
    net = make_net({**cfg["data"], **cfg["model"]})
    optimizer = make_optimizer(net, cfg["optimizer"])
    criterion = nn.CrossEntropyLoss()
    for epoch in range(cfg["training"]["epochs"]):
        train_loss, train_acc = epoch_pass(net, train_loader, criterion, optimizer)
        val_loss, val_acc = epoch_pass(net, val_loader, criterion)
        if (epoch + 1) % cfg["training"]["report_every"] == 0:
            print(f"{epoch + 1:3d} train {train_loss:.3f}/{train_acc:.3f} val {val_loss:.3f}/{val_acc:.3f}")


if __name__ == "__main__":
    main()
