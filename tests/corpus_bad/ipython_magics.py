# exported from a notebook
%matplotlib inline
!pip install torch
import torch

torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
%time x = torch.randn(8, 3)
for epoch in range(2):
    optimizer.zero_grad()
    model(torch.randn(8, 3)).pow(2).mean().backward()
    optimizer.step()
