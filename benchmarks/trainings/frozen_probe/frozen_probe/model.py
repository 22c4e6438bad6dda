import torch.nn as nn


class GaitEncoder(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(1, 16, 9, padding=4), nn.BatchNorm1d(16), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(16, dim, 7, padding=3), nn.BatchNorm1d(dim), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(dim, dim, 5, padding=2), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(),
        )

    def forward(self, x):
        return self.net(x)


class WithHead(nn.Module):
    def __init__(self, encoder, dim, classes, frozen=False):
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(dim, classes)
        self.frozen = frozen
        if frozen:
            encoder.requires_grad_(False)

    def train(self, mode=True):
        super().train(mode)
        if self.frozen:
            self.encoder.eval()
        return self

    def forward(self, x):
        return self.head(self.encoder(x))
