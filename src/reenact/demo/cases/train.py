"""Tells three kinds of points apart. It should be easy; this training never gets there."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
centres = torch.tensor([[2.0, 0.0], [-1.0, 1.7], [-1.0, -1.7]])
labels = torch.randint(0, 3, (1200,))
points = centres[labels] + 0.6 * torch.randn(1200, 2)
train = DataLoader(TensorDataset(points[:1000], labels[:1000]), batch_size=50, shuffle=True)

model = nn.Sequential(
    nn.Linear(2, 32),
    nn.ReLU(),
    nn.Linear(32, 16),
    nn.ReLU(),
    nn.Linear(16, 3),
)
optimizer = torch.optim.SGD(model.parameters(), lr=8.0)
criterion = nn.CrossEntropyLoss()

for epoch in range(8):
    for x, y in train:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()

model.eval()
with torch.no_grad():
    accuracy = (model(points[1000:]).argmax(1) == labels[1000:]).float().mean()
print(f"accuracy {accuracy:.3f}")
