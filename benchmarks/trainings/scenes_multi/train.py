"""Which of five motifs occur in a picture? Several may. Sigmoid outputs with BCELoss."""
import argparse

import numpy as np
import torch
import torch.nn as nn
from sklearn.metrics import average_precision_score

MOTIFS = np.array([
    [[1, 1, 1], [1, 0, 1], [1, 1, 1]],
    [[0, 1, 0], [1, 1, 1], [0, 1, 0]],
    [[1, 0, 1], [0, 1, 0], [1, 0, 1]],
    [[1, 1, 1], [0, 1, 0], [0, 1, 0]],
    [[1, 0, 0], [1, 0, 0], [1, 1, 1]],
], dtype=np.float32)
RATE = np.array([0.5, 0.3, 0.2, 0.15, 0.08])


def scenes(n, seed, side=14):
    r = np.random.default_rng(seed)
    y = (r.random((n, 5)) < RATE).astype(np.float32)
    x = r.normal(0, 0.25, (n, 1, side, side)).astype(np.float32)
    for i in range(n):
        for k in np.flatnonzero(y[i]):
            a, b = r.integers(0, side - 2, 2)
            x[i, 0, a:a + 3, b:b + 3] += MOTIFS[k]
    return torch.from_numpy(x), torch.from_numpy(y)


class Detector(nn.Module):
    def __init__(self, w=32):
        super().__init__()
        self.f = nn.Sequential(nn.Conv2d(1, w, 3), nn.ReLU(), nn.Conv2d(w, w, 1), nn.ReLU(), nn.Conv2d(w, 5, 1))
        self.f[-1].bias.data = torch.logit(torch.tensor(RATE, dtype=torch.float32)) - 1.0

    def forward(self, x):
        return torch.sigmoid(self.f(x).amax((2, 3)))     # a motif is there if it is anywhere


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=15)
    ap.add_argument("--bs", type=int, default=40)
    ap.add_argument("--lr", type=float, default=6e-3)
    a = ap.parse_args()
    torch.manual_seed(0)
    x, y = scenes(1600, 1)
    xt, yt = scenes(500, 2)
    net = Detector()
    opt = torch.optim.Adam(net.parameters(), lr=a.lr)
    up = (0.5 / torch.tensor(RATE)).clamp(1, 4).float()
    bce = nn.BCELoss(reduction="none")
    for ep in range(a.epochs):
        seen = 0.0
        for j in torch.randperm(len(x)).split(a.bs):
            p = net(x[j])
            w = torch.where(y[j] > 0, up, torch.ones(5))      # rare motifs count more
            loss = (bce(p, y[j]) * w).sum(1).mean()
            net.zero_grad()
            loss.backward()
            opt.step()
            seen += loss.item() * len(j)
        if ep % 3 == 2:
            with torch.no_grad():
                p = net(xt)
            ap_each = [average_precision_score(yt[:, k], p[:, k]) for k in range(5)]
            print(f"epoch {ep + 1} loss {seen / len(x):.3f} average precision {np.round(ap_each, 2).tolist()} mean {np.mean(ap_each):.3f}")
    print("rates (what a constant would score):", yt.mean(0).numpy().round(2).tolist())


if __name__ == "__main__":
    main()
