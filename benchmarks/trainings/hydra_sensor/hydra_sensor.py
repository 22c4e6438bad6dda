"""Sensor calibration (regression with scaled targets) driven by Hydra; see hydra_sensor.yaml."""
import logging

import hydra
import numpy as np
import torch
from hydra.utils import instantiate
from omegaconf import DictConfig
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import QuantileTransformer, StandardScaler
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

log = logging.getLogger(__name__)


def sensor_readings(n, seed):
    rng = np.random.default_rng(seed)
    gas = rng.gamma(2.0, 120.0, n)
    temperature = rng.normal(22, 7, n)
    humidity = rng.uniform(15, 95, n)
    drift = rng.uniform(0, 400, n)
    raw = 3.1 * np.log1p(gas) + 0.04 * temperature - 0.002 * humidity * np.log1p(gas) + 0.001 * drift
    raw += rng.normal(0, 0.05, n)
    second = np.sqrt(gas) * (1 + 0.01 * (temperature - 22)) + rng.normal(0, 0.3, n)
    return np.column_stack([raw, second, temperature, humidity, drift]), gas


class Calibrator(nn.Module):
    def __init__(self, n_features, width, depth, dropout):
        super().__init__()
        self.stem = nn.Linear(n_features, width)
        self.layers = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.SiLU(), nn.Dropout(dropout)) for _ in range(depth)
        )
        self.readout = nn.Linear(width, 1)
        nn.init.normal_(self.readout.weight, std=1e-3)
        nn.init.zeros_(self.readout.bias)

    def forward(self, x):
        h = self.stem(x)
        for layer in self.layers:
            h = h + layer(h)
        return self.readout(h).squeeze(-1)


def prepare(cfg):
    x, gas = sensor_readings(cfg.data.samples, cfg.seed)
    x_train, x_test, g_train, g_test = train_test_split(x, gas, test_size=0.2, random_state=cfg.seed)
    x_scaler = QuantileTransformer(output_distribution="normal", n_quantiles=200).fit(x_train)
    y_scaler = StandardScaler().fit(np.log1p(g_train)[:, None])
    tensors = [
        torch.tensor(a, dtype=torch.float32)
        for a in (
            x_scaler.transform(x_train), y_scaler.transform(np.log1p(g_train)[:, None]).ravel(),
            x_scaler.transform(x_test), y_scaler.transform(np.log1p(g_test)[:, None]).ravel(),
        )
    ]
    train = DataLoader(TensorDataset(*tensors[:2]), batch_size=cfg.train.batch_size, shuffle=True)
    test = DataLoader(TensorDataset(*tensors[2:]), batch_size=1024)
    return train, test, float(y_scaler.scale_[0])


def evaluate(model, loader, criterion, scale):
    model.eval()
    total, absolute, n = 0.0, 0.0, 0
    with torch.no_grad():
        for x, y in loader:
            out = model(x)
            total += criterion(out, y).item() * len(y)
            absolute += (out - y).abs().sum().item() * scale
            n += len(y)
    return total / n, absolute / n


@hydra.main(version_base=None, config_path=".", config_name="hydra_sensor")
def main(cfg: DictConfig) -> float:
    torch.manual_seed(cfg.seed)
    train, test, scale = prepare(cfg)
    model = Calibrator(5, **cfg.model)
    optimizer = instantiate(cfg.optimizer, params=model.parameters())
    scheduler = instantiate(cfg.scheduler, optimizer=optimizer)
    criterion = nn.SmoothL1Loss(beta=cfg.train.huber_beta)
    error = float("nan")
    for epoch in range(cfg.train.epochs):
        model.train()
        for x, y in train:
            loss = criterion(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), cfg.train.clip)
            optimizer.step()
        loss, error = evaluate(model, test, criterion, scale)
        scheduler.step(loss)
        if epoch % 4 == 3:
            log.info("epoch %d loss %.4f error in log(ppm) %.4f lr %.1e", epoch + 1, loss, error, optimizer.param_groups[0]["lr"])
    print(f"final error in log(ppm) {error:.4f}, spread of the targets {scale:.3f}")
    return error


if __name__ == "__main__":
    main()
