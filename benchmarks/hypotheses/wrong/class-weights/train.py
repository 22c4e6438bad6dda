"""Which payments are fraud: one of twelve."""

import torch
from torch import nn

FEATURES, EPOCHS, BATCH_SIZE = 10, 10, 64
torch.manual_seed(0)


def payments(rows, seed):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, FEATURES, generator=generator)
    score = x[:, 0] + x[:, 1] * x[:, 2] + 0.7 * torch.randn(rows, generator=generator)
    return x, (score > 2.2).long()


x, y = payments(3000, 1)
test_x, test_y = payments(2000, 2)
weight = len(y) / (2 * torch.bincount(y).float())
criterion = nn.CrossEntropyLoss(weight=weight)
model = nn.Sequential(nn.Linear(FEATURES, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(EPOCHS):
    for rows in torch.randperm(len(x)).split(BATCH_SIZE):
        loss = criterion(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        guess = model(test_x).argmax(1)
    shares = [(guess[test_y == kind] == kind).float().mean().item() for kind in (0, 1)]
    print(f"epoch {epoch} loss {loss.item():.4f} test recall {shares[1]:.4f}")
print(f"balanced accuracy {sum(shares) / 2:.4f}")
