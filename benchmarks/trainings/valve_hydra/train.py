"""Valve state classification from simulated sensor readings (hydra)."""
import logging

import hydra
import numpy as np
import torch
from hydra.utils import instantiate
from omegaconf import DictConfig
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

log = logging.getLogger("valve")
ACTIVATIONS = {"silu": nn.SiLU, "relu": nn.ReLU, "tanh": nn.Tanh}
STATES = 4


def simulate(n, n_sensors, rng, wiring):
    """The state depends on the products of hidden flows, which the sensors see as a linear mix."""
    flow = rng.normal(size=(n, 6))
    pressure = flow[:, 0] * flow[:, 1] + 0.5 * flow[:, 2]
    leak = flow[:, 3] * flow[:, 4] - 0.5 * flow[:, 5]
    state = 2 * (pressure > 0) + (leak > 0)
    readings = flow @ wiring + 0.05 * rng.normal(size=(n, n_sensors))
    return readings.astype(np.float32), state.astype(np.int64)


def build(cfg: DictConfig, d_in: int) -> nn.Module:
    sizes = [d_in, *cfg.hidden]
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), ACTIVATIONS[cfg.activation]()]
    return nn.Sequential(*layers, nn.Linear(sizes[-1], STATES))


@torch.no_grad()
def test(model, loader):
    model.eval()
    loss = hits = n = 0
    for x, y in loader:
        out = model(x)
        loss += nn.functional.cross_entropy(out, y, reduction="sum").item()
        hits += (out.argmax(1) == y).sum().item()
        n += len(y)
    return loss / n, hits / n


@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg: DictConfig) -> None:
    torch.manual_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    wiring = rng.normal(size=(6, cfg.data.n_sensors)) / np.sqrt(6)
    x, y = simulate(cfg.data.n_train, cfg.data.n_sensors, rng, wiring)
    xt, yt = simulate(cfg.data.n_test, cfg.data.n_sensors, rng, wiring)
    mean, std = x.mean(0), x.std(0)
    x, xt = (x - mean) / std, (xt - mean) / std

    train_loader = DataLoader(
        TensorDataset(torch.from_numpy(x), torch.from_numpy(y)), cfg.data.batch_size, shuffle=True
    )
    test_loader = DataLoader(TensorDataset(torch.from_numpy(xt), torch.from_numpy(yt)), 500)

    model = build(cfg.model, cfg.data.n_sensors)
    optimizer = instantiate(cfg.optimizer, params=model.parameters())
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, cfg.epochs)
    for epoch in range(cfg.epochs):
        model.train()
        total = 0.0
        for xb, yb in train_loader:
            loss = nn.functional.cross_entropy(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        test_loss, acc = test(model, test_loader)
        log.info("epoch %02d train %.4f test %.4f acc %.4f", epoch, total / len(train_loader), test_loss, acc)


if __name__ == "__main__":
    main()
