from torch import nn

from .data import COARSE, DIM, FINE


class PoolNet(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Linear(DIM, hidden), nn.LayerNorm(hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.ReLU(),
        )
        self.head = nn.Linear(hidden, COARSE)

    def forward(self, x):
        return self.head(self.trunk(x))

    def to_species(self):
        """Keep the trunk as it is and swap the phylum head for a species head."""
        for p in self.trunk.parameters():
            p.requires_grad_(False)
        self.head = nn.Linear(self.head.in_features, FINE)
        return self
