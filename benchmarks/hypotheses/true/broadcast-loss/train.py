"""The rent of a flat."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

FEATURES, EPOCHS = 8, 10
torch.manual_seed(0)


def flats(rows, seed):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, FEATURES, generator=generator)
    rent = x[:, 0] + x[:, 1] * x[:, 2] - 0.5 * x[:, 3]
    return x, rent + 0.2 * torch.randn(rows, generator=generator)


loader = DataLoader(TensorDataset(*flats(1200, 1)), batch_size=40, shuffle=True)
test_x, test_rent = flats(400, 2)
model = nn.Sequential(nn.Linear(FEATURES, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.SmoothL1Loss()

for epoch in range(EPOCHS):
    for batch, rent in loader:
        loss = criterion(model(batch), rent)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        error = (model(test_x).squeeze(1) - test_rent).abs().mean().item()
    print(f"epoch {epoch} loss {loss.item():.4f} test mae {error:.4f}")
