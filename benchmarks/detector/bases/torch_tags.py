"""Five independent tags a row, learned in PyTorch from probabilities, with weight decay and dropout."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

chance = np.random.default_rng(5)
points = chance.normal(0, 1, (560, 12)).astype("float32")
tags = (points @ chance.normal(0, 1, (12, 5)) + 0.5 * points[:, :5] ** 2 > 0.4).astype("float32")
x, y = torch.from_numpy(points), torch.from_numpy(tags)
train = DataLoader(TensorDataset(x[:400], y[:400]), batch_size=20, shuffle=True)
model = nn.Sequential(
    nn.Linear(12, 28), nn.ReLU(), nn.Dropout(0.1), nn.Linear(28, 15), nn.ReLU(), nn.Linear(15, 5), nn.Sigmoid()
)
criterion = nn.BCELoss()
optimizer = torch.optim.RMSprop(model.parameters(), lr=0.003, weight_decay=1e-4)

for epoch in range(12):
    model.train()
    for inputs, labels in train:
        optimizer.zero_grad()
        loss = criterion(model(inputs), labels)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        right = ((model(x[400:]) > 0.5).float() == y[400:]).float().mean().item()
    print(f"epoch {epoch} val_accuracy: {right:.4f}")
