import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden1 = nn.Linear(7, 20)
        self.hidden2 = nn.Linear(20, 20)
        self.output = nn.Linear(20, 3)
        nn.init.xavier_uniform_(self.output.weight, gain=0.5)
        nn.init.zeros_(self.output.bias)

    def forward(self, x):
        x = F.relu(self.hidden1(x))
        x = F.relu(self.hidden2(x))
        return self.output(x)


def init_hidden(module):
    if isinstance(module, nn.Linear) and module.out_features == 20:
        nn.init.constant_(module.weight, 0.05)
        module.bias.data.fill_(0.1)


torch.manual_seed(6)
x = torch.randn(210, 7)
y = (x[:, 0] > 0.5).long() + (x[:, 1] > 0).long()

net = Net()
net.apply(init_hidden)
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
for epoch in range(8):
    for start in range(0, 210, 21):
        opt.zero_grad()
        loss = F.cross_entropy(net(x[start : start + 21]), y[start : start + 21])
        loss.backward()
        opt.step()
with torch.no_grad():
    print("Accuracy: {:.1f}%".format(100 * (net(x).argmax(1) == y).float().mean().item()))
