"""The load of the next hour from the last day."""

import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

HOURS, WINDOW, EPOCHS, BATCH_SIZE = 1600, 24, 8, 32
torch.manual_seed(0)
generator = torch.Generator().manual_seed(4)
time = torch.arange(HOURS)
load = torch.sin(2 * math.pi * time / 24) + 0.4 * torch.sin(2 * math.pi * time / 168)
load = load + 0.15 * torch.randn(HOURS, generator=generator)
windows = load.unfold(0, WINDOW + 1, 1)
inputs, targets = windows[:, :-1], windows[:, -1:]
cut = 1200
train = TensorDataset(inputs[:cut], targets[:cut])
held_out = TensorDataset(inputs[cut + WINDOW :], targets[cut + WINDOW :])
train_loader = DataLoader(train, batch_size=BATCH_SIZE, shuffle=True)
val_loader = DataLoader(held_out, batch_size=BATCH_SIZE, shuffle=False)

model = nn.Sequential(nn.Linear(WINDOW, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(EPOCHS):
    for batch, wanted in train_loader:
        loss = nn.functional.mse_loss(model(batch), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        off = torch.cat([model(batch) - wanted for batch, wanted in val_loader])
    print(f"epoch {epoch} loss {loss.item():.4f} val mae {off.abs().mean().item():.4f}")
