"""Train a network with binary hidden codes through a hand-written straight-through estimator."""
import torch
from torch import nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

torch.manual_seed(21)


class SignSTE(torch.autograd.Function):
    """sign() forward, clipped identity backward (Hubara et al.)."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.where(x >= 0, torch.ones_like(x), -torch.ones_like(x))

    @staticmethod
    def backward(ctx, grad_out):
        (x,) = ctx.saved_tensors
        return grad_out * (x.abs() <= 1.0).to(grad_out.dtype)


class BinaryLinear(nn.Linear):
    def forward(self, x):
        scale = self.weight.abs().mean(dim=1, keepdim=True).detach()
        return nn.functional.linear(x, SignSTE.apply(self.weight) * scale, self.bias)


class HashNet(nn.Module):
    def __init__(self, n_in, bits, n_out):
        super().__init__()
        self.stem = nn.Sequential(nn.Linear(n_in, 128), nn.BatchNorm1d(128))
        self.mid = BinaryLinear(128, bits)
        self.bn = nn.BatchNorm1d(bits)
        self.out = nn.Linear(bits, n_out)

    def code(self, x):
        h = SignSTE.apply(self.stem(x))
        return SignSTE.apply(self.bn(self.mid(h)))

    def forward(self, x):
        return self.out(self.code(x))


digits = load_digits()
X = torch.tensor(digits.data / 16.0, dtype=torch.float32)
y = torch.tensor(digits.target)
idx_tr, idx_te = train_test_split(range(len(X)), test_size=0.25, random_state=3, stratify=digits.target)
X_tr, y_tr, X_te, y_te = X[idx_tr], y[idx_tr], X[idx_te], y[idx_te]
mean = X_tr.mean(0)
X_tr, X_te = X_tr - mean, X_te - mean

net = HashNet(64, bits=96, n_out=10)
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=60)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(60):
    net.train()
    perm = torch.randperm(len(X_tr))
    total = 0.0
    for batch in perm.split(32):
        if len(batch) < 2:
            continue
        opt.zero_grad()
        loss = loss_fn(net(X_tr[batch]), y_tr[batch])
        loss.backward()
        opt.step()
        with torch.no_grad():
            net.mid.weight.clamp_(-1.0, 1.0)
        total += loss.item() * len(batch)
    sched.step()
    if (epoch + 1) % 6 == 0:
        net.eval()
        with torch.no_grad():
            acc = (net(X_te).argmax(1) == y_te).float().mean().item()
        print(f"epoch {epoch + 1:3d} | loss {total / len(X_tr):.4f} | test acc {acc:.4f}")

net.eval()
with torch.no_grad():
    codes_tr, codes_te = net.code(X_tr), net.code(X_te)
    hamming = (codes_te.shape[1] - codes_te @ codes_tr.T) / 2
    nearest = y_tr[hamming.argmin(1)]
print(f"1-NN by Hamming distance: {(nearest == y_te).float().mean():.4f}")
