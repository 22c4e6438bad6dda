"""Kiln firing: predict the shrinkage of a ceramic tile from its firing curve."""
import logging

import hydra
import numpy as np
import torch
import torch.nn as nn
from omegaconf import DictConfig, OmegaConf
from torch.utils.data import DataLoader, TensorDataset

log = logging.getLogger(__name__)


def firing_runs(n, noise, seed):
    """Eight standardised process settings and one standardised shrinkage."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 8))
    y = (
        np.sin(2.0 * x[:, 0])
        + 0.8 * x[:, 1] * x[:, 2]
        + 0.6 * np.maximum(x[:, 3], 0)
        - 0.5 * np.abs(x[:, 4])
        + noise * rng.normal(size=n)
    )
    return x.astype("float32"), y.astype("float32")


def build_model(cfg: DictConfig) -> nn.Module:
    layers, width = [], 8
    for _ in range(cfg.depth):
        layers += [nn.Linear(width, cfg.width), nn.GELU()]
        width = cfg.width
    layers.append(nn.Linear(width, 1))
    return nn.Sequential(*layers)


def build_optimizer(cfg: DictConfig, params):
    if cfg.name == "adam":
        return torch.optim.Adam(params, lr=cfg.lr, betas=tuple(cfg.betas), weight_decay=cfg.weight_decay)
    if cfg.name == "sgd":
        return torch.optim.SGD(params, lr=cfg.lr, momentum=0.9, weight_decay=cfg.weight_decay)
    raise ValueError(f"unknown optimizer {cfg.name}")


def r_squared(model, x, y):
    model.eval()
    with torch.no_grad():
        pred = model(x).squeeze(1)
    return 1.0 - ((pred - y) ** 2).sum().item() / ((y - y.mean()) ** 2).sum().item()


@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg: DictConfig):
    log.info("config:\n%s", OmegaConf.to_yaml(cfg))
    torch.manual_seed(cfg.seed)
    x_tr, y_tr = firing_runs(cfg.data.n_train, cfg.data.noise, cfg.seed)
    x_va, y_va = firing_runs(cfg.data.n_val, cfg.data.noise, cfg.seed + 1)
    mean, std = y_tr.mean(), y_tr.std()
    y_tr, y_va = (y_tr - mean) / std, (y_va - mean) / std
    loader = DataLoader(
        TensorDataset(torch.from_numpy(x_tr), torch.from_numpy(y_tr)),
        batch_size=cfg.train.batch_size,
        shuffle=True,
    )
    x_va, y_va = torch.from_numpy(x_va), torch.from_numpy(y_va)

    model = build_model(cfg.model)
    optimizer = build_optimizer(cfg.optim, model.parameters())
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, cfg.train.epochs, eta_min=cfg.optim.min_lr)
    loss_fn = nn.MSELoss()

    for epoch in range(cfg.train.epochs):
        model.train()
        total = 0.0
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = loss_fn(model(xb).squeeze(1), yb)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xb)
        schedule.step()
        log.info("epoch %d train_mse %.4f val_r2 %.4f", epoch, total / len(loader.dataset), r_squared(model, x_va, y_va))
    print(f"final val_r2 {r_squared(model, x_va, y_va):.4f}")


if __name__ == "__main__":
    main()
