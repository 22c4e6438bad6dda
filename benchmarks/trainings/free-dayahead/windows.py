"""Cut (history, calendar, target) samples for forecasts issued at midnight."""
import numpy as np
import torch
from torch.utils.data import Dataset

from meters import HOURS


class DayAheadWindows(Dataset):
    """history: last `history_days` of scaled load; future: calendar rows known in advance."""

    def __init__(self, load, calendar, first_day, last_day, history_days=7):
        self.load = torch.from_numpy(load)
        self.calendar = torch.from_numpy(calendar)
        self.history = history_days * HOURS
        first_day = max(first_day, history_days)
        self.index = [(h, d) for h in range(load.shape[0]) for d in range(first_day, last_day)]

    def __len__(self):
        return len(self.index)

    def __getitem__(self, i):
        household, day = self.index[i]
        issue = day * HOURS
        history = self.load[household, issue - self.history:issue]
        future = self.calendar[issue - HOURS:issue]
        target = self.load[household, issue:issue + HOURS]
        return history, future, target, household


def scale_by_household(load, n_train_hours):
    scale = load[:, :n_train_hours].mean(axis=1, keepdims=True)
    return (load / scale).astype(np.float32), scale[:, 0].astype(np.float32)
