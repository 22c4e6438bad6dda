import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
model.eval()
with torch.no_grad():
    print("mean output %.3f" % model(torch.randn(5, 4)).mean().item())
