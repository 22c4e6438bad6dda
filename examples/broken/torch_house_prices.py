import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)


def houses(rows):
    area = 40 + 260 * torch.rand(rows)
    rooms = (area / 30 + torch.randn(rows)).round().clamp(1, 12)
    age = 90 * torch.rand(rows)
    distance = 30 * torch.rand(rows)
    price = 2400 * area + 9000 * rooms - 1100 * age - 3500 * distance + 15000 * torch.randn(rows)
    return torch.stack([area, rooms, age, distance], 1), price.unsqueeze(1)


features, prices = houses(2400)
train = DataLoader(TensorDataset(features[:2000], prices[:2000]), batch_size=32, shuffle=True)
model = nn.Sequential(
    nn.Linear(4, 32),
    nn.ReLU(),
    nn.Linear(32, 16),
    nn.ReLU(),
    nn.Linear(16, 1),
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
criterion = nn.MSELoss()

for epoch in range(10):
    model.train()
    total = 0.0
    for rows, targets in train:
        optimizer.zero_grad()
        loss = criterion(model(rows), targets)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(rows)
    model.eval()
    with torch.no_grad():
        val_loss = criterion(model(features[2000:]), prices[2000:]).item()
    print(f"epoch {epoch} loss {total / 2000:.4g} val_loss {val_loss:.4g}")
