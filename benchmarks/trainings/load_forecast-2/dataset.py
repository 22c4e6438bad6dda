import numpy as np
import torch
from torch.utils.data import Dataset


def substation_load(days, start_day=0, seed=0):
    """Hourly load in MW with daily and weekly rhythm, slow growth and weather noise."""
    rng = np.random.default_rng(seed)
    t = np.arange(days * 24) + start_day * 24
    hour, day = t % 24, t // 24
    rhythm = 14 * np.sin(2 * np.pi * (hour - 9) / 24) + 6 * np.sin(4 * np.pi * hour / 24)
    weekend = np.where(day % 7 >= 5, -9.0, 0.0)
    growth = 60 + 0.18 * day
    weather = np.zeros(len(t))
    for i in range(1, len(t)):
        weather[i] = 0.95 * weather[i - 1] + rng.normal(0, 0.9)
    return (growth + rhythm + weekend + weather).astype("float32")


class WindowDataset(Dataset):
    def __init__(self, series, context=48, horizon=6):
        self.mean, self.std = float(series.mean()), float(series.std())
        self.series = torch.from_numpy((series - self.mean) / self.std)
        self.context, self.horizon = context, horizon

    def __len__(self):
        return len(self.series) - self.context - self.horizon + 1

    def __getitem__(self, i):
        j = i + self.context
        return self.series[i:j], self.series[j:j + self.horizon]
