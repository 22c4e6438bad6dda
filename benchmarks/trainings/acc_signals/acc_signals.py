"""1-D conv classifier of vibration signals, trained through Accelerator."""
import logging

import numpy as np
import torch
import torch.nn.functional as F
from accelerate import Accelerator
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset, random_split

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("signals")

CLASSES = ["healthy", "inner race", "outer race", "ball"]


def vibration(kind, rng, n=128):
    t = np.arange(n)
    base = np.sin(2 * np.pi * t * rng.uniform(0.02, 0.04) + rng.uniform(0, 6.28))
    if kind:
        period = {1: 9, 2: 14, 3: 23}[kind]
        shift = rng.integers(period)
        knocks = ((t + shift) % period == 0).astype(float)
        ring = np.exp(-np.arange(8) / 2.0) * np.cos(np.arange(8) * 2.0)
        base = base + rng.uniform(0.8, 1.4) * np.convolve(knocks, ring)[:n]
    return base + rng.normal(0, 0.45, n)


def dataset(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, len(CLASSES), n)
    waves = np.stack([vibration(k, rng) for k in labels])
    return TensorDataset(torch.tensor(waves, dtype=torch.float32).unsqueeze(1), torch.tensor(labels))


class WaveNet1d(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv1d(1, 8, 9, padding=4)
        self.conv2 = nn.Conv1d(8, 16, 9, padding=4)
        self.conv3 = nn.Conv1d(16, 16, 9, padding=4)
        self.norms = nn.ModuleList([nn.GroupNorm(4, c) for c in (8, 16, 16)])
        self.fc = nn.Linear(16 * 16, len(CLASSES))

    def forward(self, x):
        for conv, norm in zip((self.conv1, self.conv2, self.conv3), self.norms):
            x = F.max_pool1d(F.relu(norm(conv(x))), 2)
        return self.fc(x.flatten(1))


def accuracy(model, loader, accelerator):
    model.eval()
    correct = total = 0
    for x, y in loader:
        with torch.no_grad():
            guess = model(x).argmax(-1)
        guess, y = accelerator.gather_for_metrics((guess, y))
        correct += (guess == y).sum().item()
        total += y.numel()
    return correct / total


def main(epochs=8, batch_size=32, lr=0.02):
    torch.manual_seed(8)
    accelerator = Accelerator(cpu=True)
    full = dataset()
    train_set, val_set = random_split(full, [1200, 300], generator=torch.Generator().manual_seed(0))
    train_loader = DataLoader(train_set, batch_size=batch_size, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=200)

    model = WaveNet1d()
    optimizer = optim.SGD(model.parameters(), lr=lr, momentum=0.9, weight_decay=1e-4)
    scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=3, gamma=0.3)
    model, optimizer, train_loader, val_loader, scheduler = accelerator.prepare(
        model, optimizer, train_loader, val_loader, scheduler
    )

    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in train_loader:
            with accelerator.accumulate(model):
                loss = F.cross_entropy(model(x), y)
                accelerator.backward(loss)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
            total += loss.item() * len(y)
        acc = accuracy(model, val_loader, accelerator)
        log.info("epoch %d loss %.4f val acc %.3f", epoch + 1, total / len(train_set), acc)

    accelerator.wait_for_everyone()
    state = accelerator.unwrap_model(model).state_dict()
    log.info("done, %d tensors in the checkpoint", len(state))


if __name__ == "__main__":
    main()
