import torch
from torch import nn

from .sign import sign


class TiedHash(nn.Module):
    def __init__(self, n_in, bits, hidden=128):
        super().__init__()
        self.w1 = nn.Parameter(torch.randn(hidden, n_in) / n_in**0.5)
        self.w2 = nn.Parameter(torch.randn(bits, hidden) / hidden**0.5)
        self.b1, self.b2 = nn.Parameter(torch.zeros(hidden)), nn.Parameter(torch.zeros(bits))
        self.c1, self.c2 = nn.Parameter(torch.zeros(hidden)), nn.Parameter(torch.zeros(n_in))

    def code(self, x):
        h = torch.relu(nn.functional.linear(x, self.w1, self.b1))
        return sign(nn.functional.linear(h, self.w2, self.b2))

    def decode(self, z):
        h = torch.relu(nn.functional.linear(z, self.w2.t(), self.c1))
        return nn.functional.linear(h, self.w1.t(), self.c2)

    def forward(self, x):
        return self.decode(self.code(x))
