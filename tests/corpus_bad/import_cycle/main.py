import torch

from left import RATE

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
