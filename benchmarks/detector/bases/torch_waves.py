"""Slow and fast waves, classified by a recurrent network in PyTorch; gradients are clipped."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from reenact.testing.toys import sequences


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.memory = nn.GRU(1, 12, batch_first=True)
        self.hidden = nn.Linear(12, 8)
        self.out = nn.Linear(8, 2)

    def forward(self, waves):
        states, _ = self.memory(waves)
        return self.out(torch.relu(self.hidden(states[:, -1])))


x, y = map(torch.from_numpy, sequences(rows=360, length=10))
train = DataLoader(TensorDataset(x[:240], y[:240]), batch_size=24, shuffle=True)
model = Net()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

for epoch in range(14):
    model.train()
    for inputs, labels in train:
        optimizer.zero_grad()
        loss = criterion(model(inputs), labels)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    model.eval()
    with torch.no_grad():
        right = (model(x[240:]).argmax(1) == y[240:]).float().mean().item()
    print(f"epoch {epoch} val_accuracy: {right:.4f}")
