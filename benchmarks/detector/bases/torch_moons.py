"""Two half circles, classified by a small network with tanh units in PyTorch, trained by momentum."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from reenact.testing.toys import moons


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 18)
        self.second = nn.Linear(18, 9)
        self.out = nn.Linear(9, 1)

    def forward(self, points):
        hidden = torch.tanh(self.first(points))
        hidden = torch.tanh(self.second(hidden))
        return self.out(hidden)


x, y = map(torch.from_numpy, moons(rows=500, noise=0.2))
y = y.float().unsqueeze(1)
train = DataLoader(TensorDataset(x[:320], y[:320]), batch_size=16, shuffle=True)
model = Net()
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

for epoch in range(12):
    model.train()
    for inputs, labels in train:
        optimizer.zero_grad()
        loss = criterion(model(inputs), labels)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        right = ((model(x[320:]) > 0).float() == y[320:]).float().mean().item()
    print(f"epoch {epoch} val_accuracy: {right:.4f}")
