import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(0)


def spirals(rows, arms=3):
    arm = torch.randint(0, arms, (rows,))
    radius = torch.rand(rows)
    angle = 3.5 * radius + arm * 2 * math.pi / arms + 0.15 * torch.randn(rows)
    return torch.stack([radius * angle.cos(), radius * angle.sin()], 1) * 2, arm


data = TensorDataset(*spirals(2500))
train, test = random_split(data, [2000, 500])
train_loader = DataLoader(train, batch_size=64, shuffle=True)
test_loader = DataLoader(test, batch_size=500)

model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=10.0)
criterion = nn.CrossEntropyLoss()


def accuracy(loader):
    model.eval()
    with torch.no_grad():
        hits = [(model(points).argmax(1) == arms).float() for points, arms in loader]
    return torch.cat(hits).mean().item()


for epoch in range(12):
    model.train()
    for points, arms in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(points), arms)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f} val_accuracy {accuracy(test_loader):.3f}")
