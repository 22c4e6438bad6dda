import numpy as np
import torch
from torch import nn, optim
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

torch.manual_seed(1234)


class Reader(nn.Module):
    """Three layer perceptron for the 8x8 digits."""

    def __init__(self, n_in=64, n_hidden=128, n_out=10, keep_prob=0.9):
        super().__init__()
        self.fc1 = nn.Linear(n_in, n_hidden)
        self.fc2 = nn.Linear(n_hidden, n_hidden)
        self.fc3 = nn.Linear(n_hidden, n_out)
        self.drop1 = nn.Dropout(keep_prob)
        self.drop2 = nn.Dropout(keep_prob)

    def forward(self, x):
        x = self.drop1(F.relu(self.fc1(x)))
        x = self.drop2(F.relu(self.fc2(x)))
        return self.fc3(x)


def load():
    digits = load_digits()
    rng = np.random.default_rng(0)
    noisy = digits.data + rng.normal(0, 3.5, digits.data.shape)
    xtr, xte, ytr, yte = train_test_split(noisy, digits.target, test_size=0.3, random_state=7, stratify=digits.target)
    sc = StandardScaler().fit(xtr)
    as_t = lambda a: torch.tensor(a, dtype=torch.float32)
    return as_t(sc.transform(xtr)), torch.tensor(ytr), as_t(sc.transform(xte)), torch.tensor(yte)


def iterate(x, y, size):
    order = torch.randperm(len(x))
    for start in range(0, len(x), size):
        sel = order[start:start + size]
        yield x[sel], y[sel]


def test(model, x, y):
    model.eval()
    with torch.no_grad():
        logits = model(x)
        loss = F.cross_entropy(logits, y).item()
        acc = (logits.argmax(1) == y).float().mean().item()
    return loss, acc


def fit(model, data, n_epochs=40, lr=0.01, batch=32):
    xtr, ytr, xte, yte = data
    opt = optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    for ep in range(1, n_epochs + 1):
        model.train()
        losses = []
        for xb, yb in iterate(xtr, ytr, batch):
            opt.zero_grad()
            loss = F.cross_entropy(model(xb), yb)
            loss.backward()
            opt.step()
            losses.append(loss.item())
        if ep % 8 == 0:
            l, a = test(model, xte, yte)
            print("epoch %2d | train %.4f | test %.4f | accuracy %.3f" % (ep, np.mean(losses), l, a))
    return test(model, xte, yte)


if __name__ == "__main__":
    data = load()
    net = Reader()
    n_par = sum(p.numel() for p in net.parameters())
    print("parameters:", n_par)
    loss, acc = fit(net, data)
    print("final accuracy %.3f loss %.3f" % (acc, loss))
