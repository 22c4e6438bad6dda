"""Datasets and loaders."""

import torch
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, Dataset

MEAN, STD = 0.305, 0.376


class GlyphDataset(Dataset):
    def __init__(self, images, labels, train):
        self.images = torch.tensor(images, dtype=torch.float32).unsqueeze(1)
        self.labels = torch.tensor(labels)
        self.train = train

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        image = self.images[index]
        if self.train:
            image = (image / 16.0 - MEAN) / STD
            dx, dy = torch.randint(-1, 2, (2,)).tolist()
            image = torch.roll(image, (dy, dx), dims=(1, 2))
        else:
            image = image / 255.0
        return image, self.labels[index]


def get_loaders(batch_size, seed):
    digits = load_digits()
    order = torch.randperm(len(digits.target), generator=torch.Generator().manual_seed(seed)).numpy()
    cut = int(0.8 * len(order))
    tr, va = order[:cut], order[cut:]
    train = GlyphDataset(digits.images[tr], digits.target[tr], train=True)
    valid = GlyphDataset(digits.images[va], digits.target[va], train=False)
    return DataLoader(train, batch_size, shuffle=True), DataLoader(valid, 128)
