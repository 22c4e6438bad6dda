from torch import nn

from .data import BANDS, TYPES


class SpectrumNet(nn.Module):
    """1-D convolution over the bands, then a dense read-out."""

    def __init__(self, channels=8, hidden=48):
        super().__init__()
        self.conv = nn.Conv1d(1, channels, kernel_size=5, padding=2)
        self.act = nn.LeakyReLU(0.1)
        self.pool = nn.AvgPool1d(2)
        self.read = nn.Sequential(
            nn.Flatten(),
            nn.Linear(channels * BANDS // 2, hidden),
            nn.LeakyReLU(0.1),
            nn.Linear(hidden, TYPES),
        )

    def forward(self, x):
        return self.read(self.pool(self.act(self.conv(x.unsqueeze(1)))))
