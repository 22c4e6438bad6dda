from torch import nn


class Scorer(nn.Module):
    """Scores each document by itself; no batch norm, as the rows of a list are not independent."""

    def __init__(self, features, width=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(features, width), nn.Mish(), nn.Linear(width, width), nn.Mish())
        self.out = nn.Linear(width, 1, bias=False)  # a bias would cancel in the softmax over the list

    def forward(self, x):
        return self.out(self.net(x)).squeeze(-1)
