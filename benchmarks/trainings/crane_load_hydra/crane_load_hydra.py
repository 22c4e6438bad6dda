"""Sway of a crane's load from eight sensor readings. Configuration through hydra's structured configs."""
import sys
from dataclasses import dataclass, field

import hydra
import torch
from hydra.core.config_store import ConfigStore
from omegaconf import OmegaConf
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class DataCfg:
    n_train: int = 3000
    n_val: int = 800
    noise: float = 0.05


@dataclass
class OptimCfg:
    name: str = "adam"
    lr: float = 2e-3
    weight_decay: float = 0.1
    epochs: int = 20
    batch_size: int = 64


@dataclass
class Cfg:
    seed: int = 1
    width: int = 64
    depth: int = 3
    data: DataCfg = field(default_factory=DataCfg)
    optim: OptimCfg = field(default_factory=OptimCfg)


ConfigStore.instance().store(name="crane", node=Cfg)


def sensors(n, noise, gen):
    x = torch.randn(n, 8, generator=gen)
    sway = torch.sin(1.5 * x[:, 0]) * x[:, 1] + 0.5 * x[:, 2] * x[:, 3] + 0.4 * torch.tanh(2 * x[:, 4])
    sway = (sway - sway.mean()) / sway.std()
    return x, sway + noise * torch.randn(n, generator=gen)


def build_model(width, depth, d_in=8):
    layers, d = [], d_in
    for _ in range(depth):
        layers += [nn.Linear(d, width), nn.SiLU()]
        d = width
    return nn.Sequential(*layers, nn.Linear(d, 1), nn.Flatten(0))


def build_optimizer(params, cfg):
    kinds = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}
    return kinds[cfg.name](params, lr=cfg.lr, weight_decay=cfg.weight_decay)


def main(cfg):
    print(OmegaConf.to_yaml(cfg.optim))
    torch.manual_seed(cfg.seed)
    gen = torch.Generator().manual_seed(cfg.seed)
    x, y = sensors(cfg.data.n_train, cfg.data.noise, gen)
    xv, yv = sensors(cfg.data.n_val, cfg.data.noise, gen)
    loader = DataLoader(TensorDataset(x, y), batch_size=cfg.optim.batch_size, shuffle=True)
    model = build_model(cfg.width, cfg.depth)
    opt = build_optimizer(model.parameters(), cfg.optim)
    for epoch in range(cfg.optim.epochs):
        model.train()
        total = 0.0
        for xb, yb in loader:
            loss = nn.functional.mse_loss(model(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(xb)
        model.eval()
        with torch.no_grad():
            val = nn.functional.mse_loss(model(xv), yv).item()
        if epoch % 4 == 3:
            print(f"epoch {epoch + 1} train mse {total / len(x):.4f} val mse {val:.4f}")
    print(f"val R2 {1 - val / yv.var().item():.3f}")


if __name__ == "__main__":
    # compose instead of hydra.main: no output folders wanted for a run this short
    with hydra.initialize(version_base=None, config_path=None):
        main(hydra.compose("crane", overrides=sys.argv[1:]))
