import torch
from torch.utils.data import DataLoader, TensorDataset

BANDS, TYPES = 40, 5


def measure(n, gen):
    """Raw detector counts: soil signature plus a strong, varying illumination offset per band."""
    signature = torch.randn(TYPES, BANDS, generator=torch.Generator().manual_seed(123)) * 25
    level = 900 + 400 * torch.sin(torch.linspace(0, 6, BANDS))
    kind = torch.randint(TYPES, (n,), generator=gen)
    counts = level + signature[kind] + 40 * torch.randn(n, BANDS, generator=gen)
    return counts, kind


class Standardizer:
    def __init__(self):
        self.mean = self.std = None

    def fit(self, x):
        self.mean, self.std = x.mean(0), x.std(0)
        return self

    def __call__(self, x):
        return (x - self.mean) / self.std


def min_max(x):
    low, high = x.min(0).values, x.max(0).values
    return (x - low) / (high - low)


def loaders(batch_size, seed):
    gen = torch.Generator().manual_seed(seed)
    x_train, y_train = measure(2400, gen)
    x_test, y_test = measure(800, gen)
    scale = Standardizer().fit(x_train)
    train = TensorDataset(scale(x_train), y_train)
    test = TensorDataset(min_max(x_test), y_test)
    return DataLoader(train, batch_size, shuffle=True, generator=gen), DataLoader(test, 400)
