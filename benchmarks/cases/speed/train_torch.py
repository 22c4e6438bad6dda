"""Two rings of points, one inside the other: a plain PyTorch loop whose network is given on the command line."""

import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=500)
parser.add_argument("--width", type=int, default=32)
parser.add_argument("--depth", type=int, default=2)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()

torch.manual_seed(options.seed)
angles = 6.2832 * torch.rand(1000)
labels = torch.randint(0, 2, (1000,))
radii = 1.0 + labels + 0.2 * torch.randn(1000)
points = torch.stack([radii * angles.cos(), radii * angles.sin()], 1)

sizes = [2, *[options.width] * options.depth]
hidden = [layer for a, b in zip(sizes, sizes[1:]) for layer in (nn.Linear(a, b), nn.ReLU())]
model = nn.Sequential(*hidden, nn.Linear(sizes[-1], 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()

for step in range(options.steps):
    chosen = torch.randint(0, 800, (32,))
    optimizer.zero_grad()
    loss = criterion(model(points[chosen]), labels[chosen])
    loss.backward()
    optimizer.step()

with torch.no_grad():
    right = (model(points[800:]).argmax(1) == labels[800:]).float().mean()
print(f"test accuracy: {right.item():.4f}")
