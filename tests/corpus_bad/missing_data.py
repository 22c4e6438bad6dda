import numpy as np
import torch
from torch import nn

table = np.loadtxt("data/train.csv", delimiter=",")
x = torch.tensor(table[:, :-1], dtype=torch.float32)
y = torch.tensor(table[:, -1:], dtype=torch.float32)
model = nn.Linear(x.shape[1], 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(5):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
