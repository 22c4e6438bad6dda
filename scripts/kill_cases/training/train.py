"""Tells two kinds of points apart; its learning rate is far too large."""

import torch
from torch import nn

torch.manual_seed(0)
labels = torch.randint(0, 2, (240,))
points = torch.randn(240, 2) + 2.0 * labels[:, None]
model = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=50.0)
criterion = nn.CrossEntropyLoss()

for epoch in range(6):
    for rows in torch.randperm(200).split(20):
        optimizer.zero_grad()
        loss = criterion(model(points[rows]), labels[rows])
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        accuracy = (model(points[200:]).argmax(1) == labels[200:]).float().mean()
    print(f"epoch {epoch} loss {loss.item():.3f} accuracy {accuracy:.3f}")
