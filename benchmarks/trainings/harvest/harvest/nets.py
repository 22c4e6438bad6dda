import torch
from torch import nn


class Ensemble(nn.Module):
    """five nets in one batched product; every member sees every row"""

    def __init__(self, d_in, width=32, members=5):
        super().__init__()
        self.w1 = nn.Parameter(torch.randn(members, d_in, width) / d_in ** 0.5)
        self.b1 = nn.Parameter(torch.zeros(members, 1, width))
        self.w2 = nn.Parameter(torch.randn(members, width, width) / width ** 0.5)
        self.b2 = nn.Parameter(torch.zeros(members, 1, width))
        self.w3 = nn.Parameter(torch.zeros(members, width, 1))
        self.b3 = nn.Parameter(torch.zeros(members, 1, 1))

    def forward(self, x):
        h = torch.tanh(x @ self.w1 + self.b1)
        h = torch.tanh(h @ self.w2 + self.b2)
        return (h @ self.w3 + self.b3).squeeze(-1)
