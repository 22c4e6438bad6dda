import torch
from torch import nn


class SpectraBackbone(nn.Module):
    """1-d convolutional feature extractor for infrared-like traces."""

    def __init__(self, out_features=24):
        super().__init__()
        self.conv1 = nn.Conv1d(1, 12, 7, stride=2, padding=3)
        self.conv2 = nn.Conv1d(12, 24, 5, stride=2, padding=2)
        self.norm = nn.GroupNorm(4, 24)
        self.fc = nn.Linear(24 * 16, out_features)

    def forward(self, x):
        h = torch.relu(self.conv1(x[:, None]))
        h = torch.relu(self.norm(self.conv2(h)))
        return torch.relu(self.fc(h.flatten(1)))


class MultiPropertyNet(nn.Module):
    """Source model: regresses the strengths of all bands at once."""

    def __init__(self, n_bands):
        super().__init__()
        self.encoder = SpectraBackbone()
        self.readout = nn.Linear(24, n_bands)

    def forward(self, x):
        return self.readout(self.encoder(x))
