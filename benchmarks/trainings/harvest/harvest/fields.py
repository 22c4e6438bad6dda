import numpy as np
import torch

# yield of a field depends on rain, sun, nitrogen and the crop; the last two seasons are kept for the test
CROPS = 4


def seasons(first, last, per_season=250):
    rows, target, when = [], [], []
    for s in range(first, last):
        rng = np.random.default_rng(1000 + s)
        rain = rng.normal(500 + 30 * np.sin(s), 80, per_season)
        sun = rng.normal(1700, 150, per_season)
        nitrogen = rng.uniform(20, 200, per_season)
        crop = rng.integers(0, CROPS, per_season)
        best = np.array([450, 550, 500, 620])[crop]
        t = 4 + 2 * np.sqrt(nitrogen / 100) - ((rain - best) / 180) ** 2 + (sun - 1700) / 300 + 0.4 * crop
        rows.append(np.column_stack([rain, sun, nitrogen, np.eye(CROPS)[crop]]))
        target.append(t + rng.normal(0, 0.25, per_season))
        when.append(np.full(per_season, s))
    return np.concatenate(rows), np.concatenate(target), np.concatenate(when)


class Table:
    """holds the statistics of the training seasons and applies them everywhere"""

    def __init__(self):
        x, y, _ = seasons(0, 10)
        self.mx, self.sx, self.my, self.sy = x.mean(0), x.std(0), y.mean(), y.std()
        self.train = self.tensors(x, y)
        x2, y2, _ = seasons(10, 12)
        self.test = self.tensors(x2, y2)

    def tensors(self, x, y):
        x = torch.tensor((x - self.mx) / self.sx, dtype=torch.float32)
        y = torch.tensor((y - self.my) / self.sy, dtype=torch.float32)
        return x, y

    def to_tonnes(self, z):
        return z * self.sy + self.my
