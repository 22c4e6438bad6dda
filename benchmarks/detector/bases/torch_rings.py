"""Three rings around each other, classified by a deeper network with ELU units and batch normalisation."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

chance = np.random.default_rng(11)
classes = chance.integers(0, 3, 540)
angle = chance.uniform(0, 2 * np.pi, 540)
radius = 0.4 + 0.5 * classes + chance.normal(0, 0.12, 540)
x = torch.from_numpy(np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).astype("float32"))
y = torch.from_numpy(classes)
train = DataLoader(TensorDataset(x[:360], y[:360]), batch_size=18, shuffle=True)
model = nn.Sequential(
    nn.Linear(2, 20), nn.BatchNorm1d(20), nn.ELU(),
    nn.Linear(20, 13), nn.ELU(),
    nn.Linear(13, 10), nn.ELU(),
    nn.Linear(10, 3),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)

for epoch in range(12):
    model.train()
    for inputs, labels in train:
        optimizer.zero_grad()
        loss = criterion(model(inputs), labels)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        right = (model(x[360:]).argmax(1) == y[360:]).float().mean().item()
    print(f"epoch {epoch} val_accuracy: {right:.4f}")
