"""Gradual unfreezing with a learning rate per layer; batch norm stays in eval mode while the rest trains."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(92)
digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
labels = torch.tensor(digits.target)
low, high = torch.where(labels < 5)[0], torch.where(labels >= 5)[0]


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.low = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2))
        self.mid = nn.Sequential(nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2))
        self.head = nn.Linear(128, classes)

    def forward(self, x):
        return self.head(self.mid(self.low(x)).flatten(1))

    def train(self, mode=True, freeze_norm=False):
        super().train(mode)
        if freeze_norm:
            for module in self.modules():
                if isinstance(module, nn.BatchNorm2d):
                    module.eval()  # the statistics of the first task are kept
        return self


def epoch(model, rows, target, optimizer, freeze_norm=False):
    model.train(freeze_norm=freeze_norm)
    total = 0.0
    for part in rows[torch.randperm(len(rows))].split(16):
        loss = F.cross_entropy(model(images[part]), target[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(part)
    return total / len(rows)


@torch.no_grad()
def accuracy(model, rows, target):
    model.eval()
    return (model(images[rows]).argmax(1) == target[rows]).float().mean().item()


model = Net(5)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for _ in range(6):
    loss = epoch(model, low[:700], labels, optimizer)
print(f"digits 0 to 4: loss {loss:.4f} acc {accuracy(model, low[700:], labels):.3f}")

model.head = nn.Linear(128, 5)  # a new head, and a new optimizer that knows it
target = labels - 5
few, rest = high[:100], high[100:]
model.requires_grad_(False)
model.head.requires_grad_(True)
groups = [
    {"params": model.head.parameters(), "lr": 5e-3},
    {"params": model.mid.parameters(), "lr": 1e-3},
    {"params": model.low.parameters(), "lr": 2e-4},
]
optimizer = torch.optim.Adam(groups)  # frozen groups have no gradients and are skipped until they are opened
print(f"digits 5 to 9, before: acc {accuracy(model, rest, target):.3f}")
for number in range(15):
    if number == 5:
        model.mid.requires_grad_(True)
    if number == 10:
        model.low.requires_grad_(True)
    loss = epoch(model, few, target, optimizer, freeze_norm=True)
    if number % 5 == 4:
        print(f"epoch {number:2d} loss {loss:.4f} acc {accuracy(model, rest, target):.3f}")
