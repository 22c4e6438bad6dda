import torch


def parcels(n, seed, d=10, depots=8):
    """the depot depends on signs of three products of the features"""
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, d, generator=g)
    bits = [(x[:, 0] * x[:, 1] > 0), (x[:, 2] * x[:, 3] > 0), (x[:, 4] + x[:, 5] ** 2 > 0.8)]
    y = sum(b.long() << i for i, b in enumerate(bits))
    return x, y % depots
