"""Synthetic store network: seasonal demand, one forecast a period, one item a store."""
import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset


def make_stores(n_stores, horizon, lead_time, rng):
    total = horizon + lead_time + 1
    scale = rng.uniform(4.0, 20.0, (n_stores, 1))
    phase = rng.uniform(0, 2 * np.pi, (n_stores, 1))
    amplitude = rng.uniform(0.1, 0.6, (n_stores, 1))
    cv = rng.uniform(0.1, 0.5, (n_stores, 1))
    t = np.arange(total)[None, :]
    mean = scale * (1.0 + amplitude * np.sin(2 * np.pi * t / 26 + phase))
    shape = 1.0 / cv**2
    demand = rng.gamma(shape, mean / shape)
    # forecast of the total demand from this period until an order placed now has arrived
    window = lead_time + 1
    forecast = np.stack([mean[:, k:k + window].sum(1) for k in range(horizon)], axis=1)
    forecast = forecast * rng.normal(1.0, 0.03, forecast.shape)
    underage = rng.uniform(4.0, 19.0, n_stores)
    return {
        "demand": demand[:, :horizon],
        "forecast": forecast,
        "cv": cv[:, 0],
        "underage": underage,
        "scale": scale[:, 0],
    }


def as_dataset(stores):
    keys = ("demand", "forecast", "cv", "underage", "scale")
    return TensorDataset(*(torch.tensor(stores[k], dtype=torch.float32) for k in keys))


def loaders(cfg):
    rng = np.random.default_rng(cfg["seed"])
    train = as_dataset(make_stores(cfg["train_stores"], cfg["horizon"], cfg["lead_time"], rng))
    val_rng = np.random.default_rng(4321)
    val = as_dataset(make_stores(cfg["val_stores"], cfg["horizon"], cfg["lead_time"], val_rng))
    return (
        DataLoader(train, batch_size=cfg["batch_size"], shuffle=True, drop_last=True),
        DataLoader(val, batch_size=cfg["val_stores"]),
    )
