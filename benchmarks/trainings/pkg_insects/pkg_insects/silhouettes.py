"""Silhouettes of five insects: a body, wings and legs of different proportions."""

import torch

SIDE, KINDS = 16, 5
BODY = torch.tensor([[5.0, 1.2], [3.0, 2.2], [6.0, 0.9], [4.0, 1.6], [2.5, 2.5]])
WING = torch.tensor([5.0, 3.0, 6.5, 2.0, 4.5])


def draw(n, seed):
    g = torch.Generator().manual_seed(seed)
    kind = torch.randint(0, KINDS, (n,), generator=g)
    yy, xx = torch.meshgrid(torch.arange(SIDE) - 7.5, torch.arange(SIDE) - 7.5, indexing="ij")
    size = (0.9 + 0.2 * torch.rand(n, 1, 1, generator=g)).expand(n, 1, 1)
    long, wide = BODY[kind].unsqueeze(-1).unsqueeze(-1).unbind(1)
    body = (yy / (long * size)) ** 2 + (xx / (wide * size)) ** 2 < 1
    wings = ((yy + 1) / 1.5) ** 2 + (xx / (WING[kind].view(-1, 1, 1) * size)) ** 2 < 1
    picture = (body | wings).float()
    return (picture + 0.15 * torch.randn(n, SIDE, SIDE, generator=g)).unsqueeze(1), kind
