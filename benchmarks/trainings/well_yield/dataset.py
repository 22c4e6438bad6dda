import numpy as np
import torch
from torch.utils.data import TensorDataset

COLUMNS = ["depth_m", "pressure_pa", "porosity", "pump_hours", "salinity_ppm", "year"]


def simulate(rows, seed):
    """Stand-in for the field export: one row per well and season."""
    rng = np.random.default_rng(seed)
    table = {
        "depth_m": rng.uniform(20, 900, rows),
        "pressure_pa": rng.normal(2.4e6, 6e5, rows),
        "porosity": rng.beta(4, 12, rows),
        "pump_hours": rng.integers(10, 2200, rows).astype(float),
        "salinity_ppm": rng.gamma(3, 900, rows),
        "year": rng.integers(1990, 2024, rows).astype(float),
    }
    score = (
        8 * (table["porosity"] - 0.25)
        - 1.2 * np.sin(table["depth_m"] / 150)
        + 0.8 * np.tanh((table["pressure_pa"] - 2.4e6) / 5e5)
        + 0.9 * (table["pump_hours"] / 1000 - 1) * (table["year"] - 2007) / 10
        - 0.5 * (table["salinity_ppm"] / 2700 - 1)
    )
    return table, 30 + 6 * (score + rng.normal(0, 0.2, rows))


def load(cfg):
    table, water = simulate(cfg["data"]["rows"], cfg["seed"])
    inputs = np.stack([table[name] for name in COLUMNS], axis=1)
    cut = cfg["data"]["rows"] - cfg["data"]["valid_rows"]
    mean, std = water[:cut].mean(), water[:cut].std()

    def pack(part):
        x = torch.tensor(inputs[part], dtype=torch.float32)
        y = torch.tensor((water[part] - mean) / std, dtype=torch.float32)
        return TensorDataset(x, y)

    return pack(slice(0, cut)), pack(slice(cut, None)), len(COLUMNS), float(std)
