import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(10):
    labels = torch.randint(0, 4, (8,))
    if step == 3:
        labels[0] = 4
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(torch.randn(8, 3)), labels)
    loss.backward()
    optimizer.step()
