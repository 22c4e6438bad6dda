"""Handwritten digits by a small convolutional network."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = 4
torch.manual_seed(0)
digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32)[:, None] / 16
classes = torch.tensor(digits.target)
order = torch.randperm(len(images), generator=torch.Generator().manual_seed(2))
train, test = order[:1310], order[1310:]
rows = TensorDataset(images[train], classes[train])
loader = DataLoader(rows, batch_size=64, shuffle=True, drop_last=True)

model = nn.Sequential(
    nn.Conv2d(1, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(192, 10),
)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(EPOCHS):
    model.train()
    for batch, targets in loader:
        loss = nn.functional.cross_entropy(model(batch), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        accuracy = (model(images[test]).argmax(1) == classes[test]).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.4f} test accuracy {accuracy:.4f}")
