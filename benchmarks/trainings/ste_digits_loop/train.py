# Digits with binary hidden units (straight-through), plain SGD, one-cycle rate with a large peak.
import math

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(5)
rng = np.random.default_rng(5)

data = load_digits()
order = rng.permutation(len(data.target))
images = torch.tensor(data.data[order] / 16.0 - 0.5, dtype=torch.float32)
labels = torch.tensor(data.target[order])
n_train = 1400
x_train, y_train = images[:n_train], labels[:n_train]
x_test, y_test = images[n_train:], labels[n_train:]


class BinaryStep(torch.autograd.Function):
    """sign(x) forwards, clipped identity backwards"""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.where(x >= 0, torch.ones_like(x), -torch.ones_like(x))

    @staticmethod
    def backward(ctx, grad_out):
        (x,) = ctx.saved_tensors
        return grad_out * (x.abs() <= 1).to(grad_out.dtype)


class BinaryNet(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.inp = nn.Linear(64, width, bias=False)
        self.bn1 = nn.BatchNorm1d(width)
        self.mid = nn.Linear(width, width, bias=False)
        self.bn2 = nn.BatchNorm1d(width)
        self.out = nn.Linear(width, 10)
        self.scale = 1 / math.sqrt(width)

    def forward(self, x):
        h = BinaryStep.apply(self.bn1(self.inp(x)))
        h = BinaryStep.apply(self.bn2(self.mid(h)))
        return self.out(h * self.scale)


net = BinaryNet()
epochs, bs = 60, 50
steps_per_epoch = math.ceil(n_train / bs)
opt = torch.optim.SGD(net.parameters(), lr=1.0, momentum=0.85, nesterov=True)
sched = torch.optim.lr_scheduler.OneCycleLR(
    opt, max_lr=1.5, total_steps=epochs * steps_per_epoch, pct_start=0.25, cycle_momentum=False, div_factor=30
)
lossf = nn.CrossEntropyLoss()


def evaluate():
    net.eval()
    with torch.no_grad():
        logits = net(x_test)
        acc = (logits.argmax(1) == y_test).float().mean().item()
        l = lossf(logits, y_test).item()
    net.train()
    return l, acc


for epoch in range(1, epochs + 1):
    perm = torch.randperm(n_train)
    tot, hit = 0.0, 0
    for i in range(0, n_train, bs):
        idx = perm[i:i + bs]
        xb, yb = x_train[idx], y_train[idx]
        xb = xb + 0.05 * torch.randn_like(xb)
        opt.zero_grad()
        logits = net(xb)
        loss = lossf(logits, yb)
        loss.backward()
        opt.step()
        sched.step()
        tot += loss.item() * len(idx)
        hit += (logits.argmax(1) == yb).sum().item()
    if epoch % 6 == 0:
        vl, va = evaluate()
        print(
            f"epoch {epoch:3d}  lr {sched.get_last_lr()[0]:.4f}  train loss {tot / n_train:.4f} acc {hit / n_train:.3f}"
            f"  test loss {vl:.4f} acc {va:.3f}"
        )

print("final test accuracy", round(evaluate()[1], 4))
