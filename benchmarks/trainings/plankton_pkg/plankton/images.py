"""Simulated plankton silhouettes, 12x12."""
import numpy as np
import torch
from torch.utils.data import Dataset

SHAPES = ("disc", "rod", "ring")


class Plankton(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        yy, xx = np.mgrid[0:12, 0:12]
        self.labels = rng.integers(0, len(SHAPES), n)
        pictures = []
        for k in self.labels:
            cx, cy = rng.uniform(4, 7, 2)
            r = np.hypot(xx - cx, yy - cy)
            if k == 0:
                img = (r < rng.uniform(2.5, 3.5)).astype(float)
            elif k == 1:
                a = rng.uniform(0, np.pi)
                d = np.abs((xx - cx) * np.sin(a) - (yy - cy) * np.cos(a))
                img = ((d < 1.0) & (r < 5)).astype(float)
            else:
                img = (np.abs(r - rng.uniform(2.8, 3.6)) < 0.8).astype(float)
            pictures.append(img * rng.uniform(0.7, 1.3) + rng.normal(0, 0.3, img.shape))
        self.images = torch.tensor(np.stack(pictures)[:, None], dtype=torch.float32)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.images[i], int(self.labels[i])
