from torch import nn


class SoilNet(nn.Module):
    def __init__(self, d_in, d_out, hidden=(64, 32), p=0.1):
        super().__init__()
        dims = [d_in, *hidden]
        parts = []
        for a, b in zip(dims[:-1], dims[1:]):
            parts += [nn.Linear(a, b), nn.ReLU(), nn.Dropout(p)]
        self.body = nn.Sequential(*parts)
        self.out = nn.Linear(dims[-1], d_out)

    def forward(self, x):
        return self.out(self.body(x))
