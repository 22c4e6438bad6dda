"""Reuse a pre-trained spectrogram backbone for a new set of calls: frozen, with a new head on top."""

import io

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(58)


def calls(n, kinds, first):
    """Sweeps on a 16x16 spectrogram: kind decides slope and harmonics, place varies."""
    kind = torch.randint(0, kinds, (n,))
    time, freq = torch.meshgrid(torch.arange(16.0), torch.arange(16.0), indexing="ij")
    slope = (torch.linspace(-0.8, 0.8, 8)[(kind * 3 + first) % 8]).view(-1, 1, 1)
    offset = (4 + 8 * torch.rand(n)).view(-1, 1, 1)
    line = offset + slope * (time - 8)
    picture = torch.exp(-((freq - line) ** 2) / 1.5)
    double = ((kind + first) % 2).view(-1, 1, 1)
    picture = picture + double * torch.exp(-((freq - line - 4) ** 2) / 1.5)
    return (picture + 0.5 * torch.randn(n, 16, 16)).unsqueeze(1), kind


class Backbone(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.body = nn.Sequential(nn.Conv2d(width, 2 * width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.pool = nn.Sequential(nn.Flatten(), nn.Linear(2 * width * 16, 16), nn.ReLU())

    def forward(self, x):
        return self.pool(self.body(self.stem(x)))


class Classifier(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.backbone = Backbone()
        self.head = nn.Linear(16, classes)

    def forward(self, x):
        return self.head(self.backbone(x))


def train(model, x, y, parameters, epochs, lr):
    optimizer = torch.optim.Adam(parameters, lr=lr)
    for _ in range(epochs):
        model.train()
        total = 0.0
        for rows in torch.randperm(len(x)).split(50):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x[rows]), y[rows])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
    return total / len(x)


def pretrain():
    model = Classifier(8)
    x, y = calls(2000, 8, first=0)
    print(f"pre-training loss {train(model, x, y, model.parameters(), 6, 2e-3):.3f}")
    checkpoint = io.BytesIO()
    torch.save(model.state_dict(), checkpoint)
    checkpoint.seek(0)
    return checkpoint


checkpoint = pretrain()
model = Classifier(6)
weights = torch.load(checkpoint)
weights = {name: value for name, value in weights.items() if not name.startswith("head")}
model.backbone.load_state_dict(weights, strict=False)
for parameter in model.backbone.parameters():
    parameter.requires_grad_(False)

x_few, y_few = calls(120, 6, first=1)
x_test, y_test = calls(1000, 6, first=1)
for round_ in range(5):
    loss = train(model, x_few, y_few, model.head.parameters(), 20, 5e-3)
    model.eval()
    with torch.no_grad():
        acc = (model(x_test).argmax(1) == y_test).float().mean().item()
    print(f"after {20 * (round_ + 1)} epochs: loss {loss:.3f} test acc {acc:.3f}")
