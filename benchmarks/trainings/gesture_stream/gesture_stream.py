"""Gesture recognition from raw accelerometer counts with a 1-d CNN."""

import logging

import numpy as np
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

logging.basicConfig(format="%(levelname)s %(message)s", level=logging.INFO)
logger = logging.getLogger(__name__)

GESTURES = ["rest", "wave", "circle", "push", "twist", "tap"]
COUNTS_PER_G = 1024


def record(label, rng, steps=40):
    t = np.arange(steps)
    phase = rng.uniform(0, 2 * np.pi)
    base = np.zeros((3, steps))
    base[2] = 1.0
    base[0] += 0.3 * label * np.sin(2 * np.pi * t / (6 + 2 * label) + phase)
    base[1] += 0.3 * np.cos(2 * np.pi * t / (20 - 2 * label) + phase)
    return COUNTS_PER_G * (base + 0.35 * rng.standard_normal((3, steps)))


def load_recordings(per_class, seed):
    rng = np.random.default_rng(seed)
    signals, labels = [], []
    for label in range(len(GESTURES)):
        for _ in range(per_class):
            signals.append(record(label, rng))
            labels.append(label)
    x = torch.tensor(np.stack(signals), dtype=torch.float32)
    return TensorDataset(x, torch.tensor(labels))


class GestureNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv1 = nn.Conv1d(3, 24, kernel_size=5, padding=2)
        self.conv2 = nn.Conv1d(24, 24, kernel_size=5, padding=2)
        self.pool = nn.MaxPool1d(2)
        self.fc1 = nn.Linear(240, 48)
        self.fc2 = nn.Linear(48, classes)

    def forward(self, x):
        x = self.pool(torch.relu(self.conv1(x)))
        x = self.pool(torch.relu(self.conv2(x)))
        x = torch.relu(self.fc1(x.flatten(1)))
        return self.fc2(x)


def run_validation(model, loader):
    model.eval()
    predictions, truth = [], []
    with torch.no_grad():
        for x, y in loader:
            predictions.append(model(x).argmax(1))
            truth.append(y)
    p, t = torch.cat(predictions), torch.cat(truth)
    return (p == t).float().mean().item(), torch.bincount(p, minlength=len(GESTURES)).tolist()


def main():
    torch.manual_seed(40)
    train_loader = DataLoader(load_recordings(200, 0), batch_size=32)
    val_loader = DataLoader(load_recordings(60, 1), batch_size=128)
    model = GestureNet(len(GESTURES))
    optimizer = optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(6):
        model.train()
        losses = []
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        acc, counts = run_validation(model, val_loader)
        logger.info("epoch %d loss %.4f val acc %.3f predicted %s", epoch, np.mean(losses), acc, counts)


if __name__ == "__main__":
    main()
