import torch
from torch import nn


def unit(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1, bias=False), nn.GroupNorm(4, cout), nn.SiLU())


class SmallUNet(nn.Module):
    def __init__(self, ch=12):
        super().__init__()
        self.d1 = unit(1, ch)
        self.d2 = unit(ch, 2 * ch)
        self.mid = unit(2 * ch, 2 * ch)
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        self.u1 = unit(3 * ch, ch)
        self.out = nn.Conv2d(ch, 2, 1)
        self.pool = nn.MaxPool2d(2)

    def forward(self, x):
        a = self.d1(x)
        b = self.mid(self.d2(self.pool(a)))
        return self.out(self.u1(torch.cat([a, self.up(b)], 1)))
