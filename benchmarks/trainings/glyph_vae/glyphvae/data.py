import torch
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


def digit_loaders(batch_size, seed=0):
    d = load_digits()
    x = torch.tensor(d.data, dtype=torch.float32) / 16.0
    y = torch.tensor(d.target)
    perm = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))
    x, y = x[perm], y[perm]
    train, test = TensorDataset(x[:1400], y[:1400]), TensorDataset(x[1400:], y[1400:])
    return DataLoader(train, batch_size, shuffle=True), DataLoader(test, 256)
