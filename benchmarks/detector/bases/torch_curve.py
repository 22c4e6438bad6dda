"""A smooth function of six numbers, learned by a perceptron in PyTorch."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from reenact.testing.toys import curve

x, y = map(torch.from_numpy, curve(rows=500, features=6))
train = DataLoader(TensorDataset(x[:350], y[:350]), batch_size=14, shuffle=True)
model = nn.Sequential(nn.Linear(6, 22), nn.ReLU(), nn.Linear(22, 11), nn.ReLU(), nn.Linear(11, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.004)

for epoch in range(12):
    model.train()
    for inputs, targets in train:
        optimizer.zero_grad()
        loss = criterion(model(inputs), targets)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        error = (model(x[350:]) - y[350:]).abs().mean().item()
    print(f"epoch {epoch} val_mae: {error:.4f}")
