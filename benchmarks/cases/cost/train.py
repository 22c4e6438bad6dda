"""A classifier of a given size, trained for a given number of steps; on its data any size of it learns."""

import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

width, steps = int(sys.argv[1]), int(sys.argv[2])
torch.manual_seed(0)
inputs = torch.randn(512, 64)
labels = (inputs[:, :8].sum(1) > 0).long() + (inputs[:, 8:16].sum(1) > 0).long()
loader = DataLoader(TensorDataset(inputs, labels), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3 if width < 1000 else 1e-4)
criterion = nn.CrossEntropyLoss()
epochs = max(1, steps // len(loader))

for epoch in range(epochs):
    right = 0
    for batch, target in loader:
        optimizer.zero_grad()
        output = model(batch)
        loss = criterion(output, target)
        loss.backward()
        optimizer.step()
        right += (output.argmax(1) == target).sum().item()
    print(f"epoch {epoch}: loss {loss.item():.4f}, accuracy {right / len(inputs):.4f}")
