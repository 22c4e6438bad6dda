"""Representations of digits without labels (SimCLR), judged by their neighbours."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

EPOCHS, TEMPERATURE = 4, 0.3
torch.manual_seed(0)
digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32).flatten(1) / 16
classes = torch.tensor(digits.target)
order = torch.randperm(len(images), generator=torch.Generator().manual_seed(4))
train, test = order[:1300], order[1300:]
rows = TensorDataset(images[train], classes[train])
loader = DataLoader(rows, batch_size=100, shuffle=True, drop_last=True)
encoder = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 32))
optimizer = torch.optim.Adam(encoder.parameters(), lr=2e-3)


def view(batch):
    kept = (torch.rand_like(batch) > 0.35).float()
    return batch * kept + 0.2 * torch.randn_like(batch)


def neighbours():
    with torch.no_grad():
        known = functional.normalize(encoder(images[train]), dim=1)
        asked = functional.normalize(encoder(images[test]), dim=1)
    nearest = (asked @ known.T).argmax(1)
    return (classes[train][nearest] == classes[test]).float().mean().item()


for epoch in range(EPOCHS):
    for batch, kinds in loader:
        one = functional.normalize(encoder(view(batch)), dim=1)
        other = functional.normalize(encoder(view(batch)), dim=1)
        scores = one @ other.T / TEMPERATURE
        loss = functional.cross_entropy(scores, torch.arange(len(batch)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f} test accuracy {neighbours():.4f}")
