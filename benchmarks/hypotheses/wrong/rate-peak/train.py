"""Handwritten digits by a small network with a one-cycle schedule."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = 6
torch.manual_seed(0)
digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32).flatten(1) / 16
classes = torch.tensor(digits.target)
order = torch.randperm(len(images), generator=torch.Generator().manual_seed(1))
train, test = order[:1400], order[1400:]
loader = DataLoader(TensorDataset(images[train], classes[train]), batch_size=64, shuffle=True)

model = nn.Sequential(nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
scheduler = torch.optim.lr_scheduler.OneCycleLR(
    optimizer, max_lr=0.8, epochs=EPOCHS, steps_per_epoch=len(loader)
)
criterion = nn.CrossEntropyLoss()
rates = []

for epoch in range(EPOCHS):
    model.train()
    for batch, targets in loader:
        optimizer.zero_grad()
        loss = criterion(model(batch), targets)
        loss.backward()
        optimizer.step()
        rates.append(scheduler.get_last_lr()[0])
        scheduler.step()
    model.eval()
    with torch.no_grad():
        accuracy = (model(images[test]).argmax(1) == classes[test]).float().mean().item()
    print(f"epoch {epoch} rate {rates[-1]:.3f} loss {loss.item():.4f} test accuracy {accuracy:.4f}")
