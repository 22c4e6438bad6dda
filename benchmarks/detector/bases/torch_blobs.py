"""Four clouds of points, classified by a multi-layer perceptron in PyTorch."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from reenact.testing.toys import blobs

EPOCHS = 14
x, y = map(torch.from_numpy, blobs(rows=600, features=10, classes=4, spread=2.2))
train = DataLoader(TensorDataset(x[:400], y[:400]), batch_size=25, shuffle=True)
model = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 14), nn.ReLU(), nn.Linear(14, 4))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.006)

for epoch in range(EPOCHS):
    model.train()
    for inputs, labels in train:
        optimizer.zero_grad()
        loss = criterion(model(inputs), labels)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        right = (model(x[400:]).argmax(1) == y[400:]).float().mean().item()
    print(f"epoch {epoch} val_accuracy: {right:.4f}")
