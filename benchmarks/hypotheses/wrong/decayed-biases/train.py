"""Breast cancer from measured cell nuclei."""

import torch
from sklearn.datasets import load_breast_cancer
from torch import nn

EPOCHS, BATCH_SIZE = 25, 32
torch.manual_seed(0)
table = load_breast_cancer()
x = torch.tensor(table.data, dtype=torch.float32)
y = torch.tensor(table.target, dtype=torch.float32)
order = torch.randperm(len(x), generator=torch.Generator().manual_seed(2))
train, test = order[:380], order[380:]
x = (x - x[train].mean(0)) / x[train].std(0)

model = nn.Sequential(nn.Linear(30, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, weight_decay=5e-3)
criterion = nn.BCEWithLogitsLoss()

for epoch in range(EPOCHS):
    for rows in train[torch.randperm(len(train))].split(BATCH_SIZE):
        loss = criterion(model(x[rows]).squeeze(1), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        outputs = model(x[test]).squeeze(1)
        held_out = criterion(outputs, y[test]).item()
        accuracy = ((outputs > 0) == y[test].bool()).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.4f} val loss {held_out:.4f} val accuracy {accuracy:.4f}")
