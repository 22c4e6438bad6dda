import torch
import torch.nn as nn
import torch.nn.functional as F


def branch(side: int, dim: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(1, 12, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(12, 24, 3, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(24 * (side // 2) ** 2, dim),
    )


class TwinNet(nn.Module):
    """Siamese network: both images go through the same branch, the score falls with their distance."""

    def __init__(self, side: int, dim: int = 16):
        super().__init__()
        self.branches = nn.ModuleList([branch(side, dim) for _ in range(2)])
        self.scale = nn.Parameter(torch.tensor(4.0))
        self.offset = nn.Parameter(torch.tensor(2.0))

    def forward(self, left, right):
        a = F.normalize(self.branches[0](left), dim=1)
        b = F.normalize(self.branches[1](right), dim=1)
        distance = (a - b).square().sum(dim=1)
        return self.offset - self.scale * distance
