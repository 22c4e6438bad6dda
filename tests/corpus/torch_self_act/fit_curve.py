# Regression of a damped wave; constants at the top, one activation shared by two layers.
import math

import torch
import torch.nn as nn

SEED = 42
N_SAMPLES = 256
NOISE = 0.05
LOG_EVERY = 10  # epochs between two lines of the log, nothing that is learned

HIDDEN = 32
LR = 2e-2
EPOCHS = 80
BATCH_SIZE = 64
WEIGHT_DECAY = 1e-5


class Curve(nn.Module):
    def __init__(self, hidden):
        super(Curve, self).__init__()
        self.act = nn.Tanh()
        self.inp = nn.Linear(1, hidden)
        self.mid = nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        h = self.act(self.inp(x))
        h = self.act(self.mid(h))
        return self.out(h)


torch.manual_seed(SEED)
x = torch.linspace(-2, 2, N_SAMPLES).unsqueeze(1)
y = torch.exp(-x.abs()) * torch.sin(2 * math.pi * x) + NOISE * torch.randn_like(x)
dataset = torch.utils.data.TensorDataset(x, y)
loader = torch.utils.data.DataLoader(dataset, batch_size=BATCH_SIZE, shuffle=True, drop_last=True)

net = Curve(HIDDEN)
loss_fn = nn.MSELoss()
opt = torch.optim.AdamW(net.parameters(), lr=LR, weight_decay=WEIGHT_DECAY)

for epoch in range(EPOCHS):
    for xb, yb in loader:
        opt.zero_grad()
        loss = loss_fn(net(xb), yb)
        loss.backward()
        opt.step()
    if epoch % LOG_EVERY == 0:
        print("epoch", epoch, "of", EPOCHS, "mse", round(loss.item(), 5))

net.eval()
with torch.no_grad():
    print("final mse: %.5f" % loss_fn(net(x), y).item())
