import numpy as np
import torch
from torch.utils.data import Dataset


class DiscScenes(Dataset):
    """Scenes with one to three discs; target 1 inside a disc, 0 outside, 255 (ignored) on the one-pixel rims."""

    def __init__(self, n, seed, size=24):
        rng = np.random.default_rng(seed)
        self.images, self.masks = [], []
        yy, xx = np.mgrid[:size, :size]
        for _ in range(n):
            img = rng.normal(0, 0.6, (size, size)) + 0.04 * (xx - size / 2) * rng.choice([-1, 1])
            mask = np.zeros((size, size), dtype=np.int64)
            for _ in range(rng.integers(1, 4)):
                cy, cx = rng.uniform(3, size - 3, 2)
                r = rng.uniform(2.5, 5.5)
                d = np.hypot(yy - cy, xx - cx)
                img = img + (d < r) * rng.uniform(0.9, 1.5)
                rim = abs(d - r) < 0.5
                mask = np.where(d < r, 1, mask)
                mask = np.where(rim, 255, mask)
            self.images.append(img.astype(np.float32)[None])
            self.masks.append(mask)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return torch.from_numpy(self.images[i]), torch.from_numpy(self.masks[i])
