import argparse

import torch
import torch.nn as nn

OPTIMIZERS = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "rmsprop": torch.optim.RMSprop}
ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh, "sigmoid": nn.Sigmoid}

p = argparse.ArgumentParser()
p.add_argument("--lr", type=float, default=1e-3)
p.add_argument("--epochs", type=int, default=50)
p.add_argument("--bs", type=int, default=16)
p.add_argument("--opt", choices=sorted(OPTIMIZERS), default="sgd")
p.add_argument("--act", choices=sorted(ACTIVATIONS), default="relu")
p.add_argument("--layers", type=int, nargs="+", default=[16, 8])
p.add_argument("--samples", type=int, default=160)
args = p.parse_args()

torch.manual_seed(0)
X = torch.randn(args.samples, 5)
Y = (X[:, 0] + X[:, 1] > X[:, 2]).float()

modules = []
width_in = 5
for width in args.layers:
    modules.append(nn.Linear(width_in, width))
    modules.append(ACTIVATIONS[args.act]())
    width_in = width
modules.append(nn.Linear(width_in, 1))
net = nn.Sequential(*modules)

bce = nn.BCEWithLogitsLoss()
opt = OPTIMIZERS[args.opt](net.parameters(), lr=args.lr)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, Y), args.bs, True)

for epoch in range(args.epochs):
    for xb, yb in loader:
        opt.zero_grad()
        loss = bce(net(xb).squeeze(1), yb)
        loss.backward()
        opt.step()
    print("epoch", epoch, "bce", "%.4f" % loss.item())

with torch.no_grad():
    print("accuracy", "%.3f" % ((net(X).squeeze(1) > 0).float() == Y).float().mean().item())
