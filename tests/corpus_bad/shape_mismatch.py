import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.fc = nn.Linear(4 * 8 * 8, 10)

    def forward(self, x):
        x = torch.relu(self.conv(x))
        return self.fc(x.flatten(1))


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(2):
    optimizer.zero_grad()
    scores = net(torch.randn(6, 1, 8, 8))
    nn.functional.cross_entropy(scores, torch.randint(10, (6,))).backward()
    optimizer.step()
