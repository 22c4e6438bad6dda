"""Two rings of points, one inside the other: a plain PyTorch loop."""

import torch
from torch import nn

torch.manual_seed(0)
angles = 6.2832 * torch.rand(1000)
labels = torch.randint(0, 2, (1000,))
radii = 1.0 + labels + 0.2 * torch.randn(1000)
points = torch.stack([radii * angles.cos(), radii * angles.sin()], 1)

model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()

for epoch in range(20):
    for chosen in torch.randperm(800).split(32):
        optimizer.zero_grad()
        loss = criterion(model(points[chosen]), labels[chosen])
        loss.backward()
        optimizer.step()

with torch.no_grad():
    right = (model(points[800:]).argmax(1) == labels[800:]).float().mean()
print(f"test accuracy: {right.item():.4f}")
