import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01

for epoch in range(3):
    loss = model(torch.randn(5, 4)).sum()
    loss.backward()
    optimizer.step()
