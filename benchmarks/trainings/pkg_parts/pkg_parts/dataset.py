import torch
from torch.utils.data import DataLoader, Dataset

from .images import collect
from .transforms import test_transform, train_transform


class PartsDataset(Dataset):
    def __init__(self, images, labels, transform):
        self.images, self.labels, self.transform = images, labels, transform

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.transform(self.images[i]), torch.tensor(self.labels[i])


def get_loaders(batch_size):
    images, labels = collect(1000, seed=0)
    mean, std = images.mean() / 255.0, images.std() / 255.0
    train = PartsDataset(images, labels, train_transform(mean, std))
    test = PartsDataset(*collect(500, seed=1), test_transform())
    return (
        DataLoader(train, batch_size=batch_size, shuffle=True, drop_last=True),
        DataLoader(test, batch_size=96),
    )
