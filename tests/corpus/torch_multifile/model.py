import torch.nn as nn

from config import CHANNELS, DROPOUT, KERNEL, NUM_CLASSES


class WaveNet(nn.Module):
    """Two one-dimensional convolutions and a linear read-out."""

    def __init__(self):
        super().__init__()
        first, second = CHANNELS
        self.conv1 = nn.Conv1d(1, first, kernel_size=KERNEL, padding=1)
        self.pool1 = nn.MaxPool1d(2)
        self.conv2 = nn.Conv1d(first, second, KERNEL, padding=1)
        self.pool2 = nn.AdaptiveAvgPool1d(4)
        self.relu = nn.ReLU(inplace=True)
        self.drop = nn.Dropout(p=DROPOUT)
        self.fc = nn.Linear(second * 4, NUM_CLASSES)

    def forward(self, x):
        x = self.pool1(self.relu(self.conv1(x)))
        x = self.pool2(self.relu(self.conv2(x)))
        x = self.drop(x.flatten(1))
        return self.fc(x)
