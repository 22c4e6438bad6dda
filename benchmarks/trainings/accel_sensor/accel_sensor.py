"""Activity recognition from sensor windows, with Accelerate."""

import resource

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def synth_windows(n, seed, channels=6, steps=64):
    """Five activities with their own frequency and phase between the channels."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 5, n)
    t = np.arange(steps) / steps
    freq = (2 + 2 * label)[:, None, None] + rng.normal(0, 0.4, (n, 1, 1))
    phase = rng.uniform(0, 2 * np.pi, (n, 1, 1)) + np.arange(channels)[None, :, None] * 0.5
    signal = np.sin(2 * np.pi * freq * t[None, None, :] + phase) + rng.normal(0, 0.8, (n, channels, steps))
    return TensorDataset(torch.tensor(signal, dtype=torch.float32), torch.tensor(label))


class SensorNet(nn.Module):
    def __init__(self, channels=6, classes=5):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(channels, 32, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(32, 32, 5, padding=2), nn.ReLU(), nn.AdaptiveMaxPool1d(4),
        )
        self.fc = nn.Sequential(nn.Flatten(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, classes))

    def forward(self, x):
        return self.fc(self.conv(x))


def memory_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def validate(accelerator, model, loader):
    model.eval()
    good = seen = 0
    for x, y in loader:
        with torch.no_grad():
            guess = model(x).argmax(dim=-1)
        guess, y = accelerator.gather_for_metrics((guess, y))
        good += (guess == y).sum().item()
        seen += y.numel()
    return good / seen


def main():
    set_seed(17)
    accelerator = Accelerator(cpu=True)
    train = DataLoader(synth_windows(2560, 0), batch_size=32, shuffle=True)
    valid = DataLoader(synth_windows(640, 1), batch_size=128)
    model = SensorNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    model, optimizer, train, valid = accelerator.prepare(model, optimizer, train, valid)
    criterion = nn.CrossEntropyLoss()

    total_loss, seen_batches = 0.0, 0
    for epoch in range(6):
        model.train()
        for inputs, targets in train:
            optimizer.zero_grad()
            loss = criterion(model(inputs), targets)
            accelerator.backward(loss, retain_graph=True)
            optimizer.step()
            total_loss += loss
            seen_batches += 1
        acc = validate(accelerator, model, valid)
        accelerator.print(
            f"epoch {epoch}: mean loss so far {float(total_loss) / seen_batches:.4f} "
            f"val acc {acc:.4f} peak memory {memory_mb():.0f} MB"
        )


if __name__ == "__main__":
    main()
