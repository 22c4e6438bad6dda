import torch as T
import torch.nn as N
from torch import optim as O
from torch.nn import functional as fn
from torch.utils import data as D

T.manual_seed(2024)
QUICK = True
width = 48 if QUICK else 512
rate = (lr := 0.004) * 2
epochs, batch = 5, 36

X = T.rand(288, 6) * 4 - 2
Y = T.sin(X[:, :1]) * X[:, 1:2] + X[:, 2:3].abs()

make_act = lambda: N.LeakyReLU(negative_slope=0.02)
head = N.Linear(width // 2, 1)
net = N.Sequential(N.Linear(6, width), make_act(), N.Linear(width, width // 2), make_act(), head)

feed = D.DataLoader(D.TensorDataset(X, Y), batch_size=batch, shuffle=True)
sched = O.lr_scheduler.MultiStepLR(opt := O.Adamax(net.parameters(), rate), milestones=[2, 4], gamma=0.1)

for e in range(epochs):
    for xb, yb in feed:
        opt.zero_grad(); fn.mse_loss(net(xb), yb).backward(); opt.step()
    sched.step()
    print(f"{e=} lr={sched.get_last_lr()[0]:g}")
with T.no_grad(): print(f"mse {fn.mse_loss(net(X), Y).item():.5f}")
