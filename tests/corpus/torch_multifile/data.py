import torch
from torch.utils.data import DataLoader, TensorDataset

import config


def _waves(size, seed):
    gen = torch.Generator().manual_seed(seed)
    label = torch.randint(config.NUM_CLASSES, (size,), generator=gen)
    t = torch.linspace(0, 6.28, 32)
    wave = torch.sin(t[None, :] * (label[:, None] + 1).float())
    return (wave + 0.2 * torch.randn(size, 32, generator=gen)).unsqueeze(1), label


def get_loaders():
    train = TensorDataset(*_waves(config.TRAIN_SIZE, seed=0))
    test = TensorDataset(*_waves(config.TEST_SIZE, seed=1))
    return (
        DataLoader(train, batch_size=config.BATCH_SIZE, shuffle=True),
        DataLoader(test, batch_size=4 * config.BATCH_SIZE, shuffle=False),
    )
