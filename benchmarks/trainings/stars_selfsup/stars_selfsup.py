# Self-supervised light curves (BYOL style): online network + predictor chase a slow copy of the network.
# No gradient enters the slow copy, the loss is minus a cosine (down to -1), and there are no negatives at all.
# Judged by a linear classifier on the frozen embedding, 150 labelled curves.
import copy
import numpy as np
import torch
import torch.nn.functional as F
from sklearn.linear_model import LogisticRegression
from torch import nn

L = 64
EMA = 0.98


def curves(n, seed):
    r = np.random.default_rng(seed)
    kind = r.integers(0, 4, n)
    t = np.linspace(0, 1, L)
    out = np.zeros((n, L))
    for i, k in enumerate(kind):
        f, ph = r.uniform(3, 5), r.uniform(0, 1)
        s = (f * t + ph) % 1
        if k == 0: out[i] = np.sin(2 * np.pi * s)
        if k == 1: out[i] = 2 * s - 1
        if k == 2: out[i] = np.where(s < 0.15, -1, 0.3)
        if k == 3: out[i] = np.where(s < 0.5, 1.0, -1.0)
    out = out + r.normal(0, 0.5, out.shape)
    return torch.tensor(out, dtype=torch.float32), kind


def view(x):
    n = len(x)
    shift = torch.randint(0, L, (n, 1))
    idx = (torch.arange(L) + shift) % L
    x = x.gather(1, idx)
    x = x * (0.7 + 0.6 * torch.rand(n, 1))
    return x + 0.3 * torch.randn_like(x)


class Encoder(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(1, 16, 9, padding=4), nn.BatchNorm1d(16), nn.ReLU(),
            nn.Conv1d(16, 32, 9, stride=2, padding=4), nn.BatchNorm1d(32), nn.ReLU())
        self.proj = nn.Sequential(nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, d))

    def features(self, x):
        h = self.conv(x[:, None])
        return torch.cat([h.mean(-1), h.amax(-1)], 1)

    def forward(self, x):
        return self.proj(self.features(x))


def probe(net, xl, yl, xt, yt):
    net.eval()
    with torch.no_grad():
        a, b = net.features(xl).numpy(), net.features(xt).numpy()
    net.train()
    return LogisticRegression(max_iter=500).fit(a, yl).score(b, yt)


torch.manual_seed(4)
x, _ = curves(2000, 0)
xl, yl = curves(150, 1)
xt, yt = curves(800, 2)
online = Encoder()
slow = copy.deepcopy(online).requires_grad_(False)
predictor = nn.Sequential(nn.Linear(32, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 32))
opt = torch.optim.AdamW([*online.parameters(), *predictor.parameters()], lr=2e-3, weight_decay=1e-4)
print(f"before: linear probe {probe(online, xl, yl, xt, yt):.3f}")
for epoch in range(6):
    total = 0.0
    batches = torch.randperm(len(x)).split(100)
    for b in batches:
        v1, v2 = view(x[b]), view(x[b])
        p1, p2 = predictor(online(v1)), predictor(online(v2))
        with torch.no_grad():
            z1, z2 = slow(v1), slow(v2)
        loss = -(F.cosine_similarity(p1, z2).mean() + F.cosine_similarity(p2, z1).mean()) / 2
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            for ps, po in zip(slow.parameters(), online.parameters()):
                ps.lerp_(po, 1 - EMA)
        total += loss.item()
    with torch.no_grad():
        spread = F.normalize(online(xt), dim=1).std(0).mean().item()
    print(f"epoch {epoch} loss {total / len(batches):+.3f} spread {spread:.3f} linear probe {probe(online, xl, yl, xt, yt):.3f}")
print(f"raw curve logistic {LogisticRegression(max_iter=500).fit(xl.numpy(), yl).score(xt.numpy(), yt):.3f}, majority {np.bincount(yt).max() / len(yt):.3f}")
