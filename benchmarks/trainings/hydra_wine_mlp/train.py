"""Classify synthetic spectra of wines by region; configured with hydra structured configs."""
import logging
from dataclasses import dataclass, field

import hydra
import numpy as np
import torch
from hydra.core.config_store import ConfigStore
from hydra.utils import instantiate
from omegaconf import OmegaConf
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

log = logging.getLogger(__name__)


@dataclass
class OptimConf:
    _target_: str = "torch.optim.Adam"
    lr: float = 1e-3
    weight_decay: float = 0.3
    betas: tuple[float, float] = (0.9, 0.99)


@dataclass
class ModelConf:
    width: int = 64
    dropout: float = 0.1


@dataclass
class DataConf:
    regions: int = 7
    bands: int = 80
    train: int = 4000
    test: int = 1000
    noise: float = 0.45
    batch_size: int = 32


@dataclass
class Conf:
    seed: int = 29
    epochs: int = 9
    optim: OptimConf = field(default_factory=OptimConf)
    model: ModelConf = field(default_factory=ModelConf)
    data: DataConf = field(default_factory=DataConf)


ConfigStore.instance().store(name="base_conf", node=Conf)


def spectra(cfg, n, rng, peaks):
    grid = np.linspace(0, 1, cfg.bands)
    y = rng.integers(0, cfg.regions, n)
    x = np.zeros((n, cfg.bands), dtype=np.float32)
    for pos, width, height in peaks[y].transpose(1, 2, 0):
        shift = rng.normal(0, 0.012, n)
        x += (height * rng.uniform(0.7, 1.3, n))[:, None] * np.exp(-0.5 * ((grid - (pos + shift)[:, None]) / width[:, None]) ** 2)
    return (x + rng.normal(0, cfg.noise, x.shape)).astype(np.float32), y


class SpectrumNet(nn.Module):
    def __init__(self, bands, regions, width, dropout):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(1, 8, 7, padding=3), nn.ReLU(), nn.AvgPool1d(2), nn.Conv1d(8, 12, 5, padding=2), nn.ReLU(), nn.AvgPool1d(2))
        self.mlp = nn.Sequential(nn.Linear(12 * (bands // 4), width), nn.ReLU(), nn.Dropout(dropout), nn.Linear(width, regions))

    def forward(self, x):
        return self.mlp(self.conv(x[:, None]).flatten(1))


@torch.no_grad()
def score(model, loader):
    model.eval()
    hit = n = 0
    for xb, yb in loader:
        hit += (model(xb).argmax(1) == yb).sum().item()
        n += len(yb)
    return hit / n


@hydra.main(version_base=None, config_path=".", config_name="config")
def main(cfg: Conf) -> None:
    print(OmegaConf.to_yaml({k: cfg[k] for k in ("seed", "epochs", "optim", "model")}))
    torch.manual_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    d = cfg.data
    peaks = np.stack([rng.uniform(0.05, 0.95, (d.regions, 5)), rng.uniform(0.02, 0.06, (d.regions, 5)), rng.uniform(0.4, 1.2, (d.regions, 5))], axis=-1)
    sets = []
    for n in (d.train, d.test):
        x, y = spectra(d, n, rng, peaks)
        sets.append(TensorDataset(torch.from_numpy(x), torch.from_numpy(y)))
    train_loader = DataLoader(sets[0], batch_size=d.batch_size, shuffle=True)
    test_loader = DataLoader(sets[1], batch_size=250)

    model = SpectrumNet(d.bands, d.regions, cfg.model.width, cfg.model.dropout)
    optimizer = instantiate(cfg.optim, params=model.parameters())
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(1, cfg.epochs + 1):
        model.train()
        total = 0.0
        for xb, yb in train_loader:
            optimizer.zero_grad()
            loss = loss_fn(model(xb), yb)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch:2d}  loss {total / len(train_loader):.4f}  test accuracy {score(model, test_loader):.4f}")


if __name__ == "__main__":
    main()
