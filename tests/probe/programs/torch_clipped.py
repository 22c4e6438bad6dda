import warnings

import torch
from torch import nn

torch.manual_seed(3)
x = torch.randn(64, 4)
y = x.sum(1, keepdim=True)
before = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
model.load_state_dict(before.state_dict())
rows = nn.utils.rnn.pad_sequence([x[0], x[1][:2]])
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for _ in range(12):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    print(repr(loss.item()))
warnings.warn("the end", stacklevel=1)
