"""Bars of four directions in grey pictures, classified by a small convolutional network in PyTorch."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from reenact.testing.toys import images


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 5, 3, padding=1)
        self.hidden = nn.Linear(5 * 4 * 4, 26)
        self.dropout = nn.Dropout(0.2)
        self.out = nn.Linear(26, 4)

    def forward(self, pictures):
        seen = F.max_pool2d(F.relu(self.conv(pictures)), 2)
        seen = F.relu(self.hidden(seen.flatten(1)))
        return self.out(self.dropout(seen))


x, y = map(torch.from_numpy, images(rows=420, side=8, classes=4))
grey = torch.round(x * 255)
x = grey / 255.0
train = DataLoader(TensorDataset(x[:280], y[:280]), batch_size=20, shuffle=True)
model = Net()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.003)

for epoch in range(12):
    model.train()
    for inputs, labels in train:
        optimizer.zero_grad()
        loss = criterion(model(inputs), labels)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        right = (model(x[280:]).argmax(1) == y[280:]).float().mean().item()
    print(f"epoch {epoch} val_accuracy: {right:.4f}")
