"""Queries with eight documents each and grades from 0 to 4."""

import torch
from torch.utils.data import Dataset

FEATURES, DOCUMENTS = 12, 8


class Lists(Dataset):
    """Grades are whole numbers, so many documents of a list are tied."""

    def __init__(self, queries, seed):
        g = torch.Generator().manual_seed(seed)
        self.x = torch.randn(queries, DOCUMENTS, FEATURES, generator=g)
        match = self.x[..., 0] * self.x[..., 1] + self.x[..., 2] + 0.5 * self.x[..., 3].abs()
        noise = 0.3 * torch.randn(match.shape, generator=g)
        self.grade = torch.bucketize(match + noise, torch.tensor([-1.0, 0.0, 1.0, 2.0])).float()

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.grade[i]
