import torch
from torch import nn


class DayAheadNet(nn.Module):
    """History is summarised once; each of the 24 target hours is read out with its calendar row."""

    def __init__(self, history_hours, n_calendar, hidden=64):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(history_hours, 128), nn.ReLU(),
            nn.Linear(128, hidden), nn.ReLU(),
        )
        self.profile = nn.Linear(hidden, 24 * 8)
        self.head = nn.Sequential(
            nn.Linear(8 + n_calendar + 2, 48), nn.ReLU(),
            nn.Linear(48, 1),
        )

    def forward(self, history, future):
        batch = history.shape[0]
        code = self.profile(self.encoder(history)).view(batch, 24, 8)
        days = history.view(batch, -1, 24)
        anchors = torch.stack([days[:, -1], days[:, 0]], dim=-1)
        features = torch.cat([code, future, anchors], dim=-1)
        return days.mean(1) + self.head(features).squeeze(-1)
