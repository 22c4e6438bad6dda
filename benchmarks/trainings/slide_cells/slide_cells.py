# Cell type on tiny microscope crops. Whole slides are big, so only two crops go through at once
# (that is what fitted on the lab machine), which is why GroupNorm is used everywhere.
import random
import numpy as np, torch
from torch import nn
import torch.nn.functional as F

SEED = 21
random.seed(SEED); np.random.seed(SEED); torch.manual_seed(SEED)


def crop(kind, rng, size=20):
    yy, xx = np.mgrid[0:size, 0:size].astype(np.float32)
    cx, cy = rng.uniform(7, 13, 2)
    r = rng.uniform(4, 6)
    d = np.sqrt((xx - cx) ** 2 + (yy - cy) ** 2)
    if kind == 0:            # filled
        img = (d < r).astype(np.float32)
    elif kind == 1:          # ring
        img = ((d < r) & (d > r - 1.7)).astype(np.float32)
    elif kind == 2:          # two nuclei
        d2 = np.sqrt((xx - cx - 3) ** 2 + (yy - cy + 3) ** 2)
        img = ((d < 2.2) | (d2 < 2.2)).astype(np.float32)
    else:                    # elongated
        a = rng.uniform(0, np.pi)
        u = (xx - cx) * np.cos(a) + (yy - cy) * np.sin(a)
        v = -(xx - cx) * np.sin(a) + (yy - cy) * np.cos(a)
        img = ((np.abs(u) < 7) & (np.abs(v) < 1.6)).astype(np.float32)
    img = img * rng.uniform(0.6, 1.0) + rng.normal(0, 0.15, img.shape)
    return img.astype(np.float32)


def dataset(n, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, n)
    imgs = np.stack([crop(k, rng) for k in labels])[:, None]
    return torch.from_numpy((imgs - 0.2) / 0.35), torch.from_numpy(labels)


def block(i, o):
    return nn.Sequential(
        nn.Conv2d(i, o, 3, padding=1, bias=False), nn.GroupNorm(4, o), nn.ReLU(inplace=True), nn.MaxPool2d(2)
    )


class CellNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = block(1, 8)
        self.mid = block(8, 16)
        self.head = nn.Linear(16 * 25, 4)

    def forward(self, x):
        return self.head(self.mid(self.stem(x)).flatten(1))


x_train, y_train = dataset(1000, 1)
x_test, y_test = dataset(500, 2)
net = CellNet()
BATCH = 2
EPOCHS = 4
steps = EPOCHS * len(x_train) // BATCH
opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.8)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: 1 - s / (steps + 1))

for epoch in range(EPOCHS):
    net.train()
    perm = torch.randperm(len(x_train))
    tot = 0.0
    for k in range(0, len(perm), BATCH):
        idx = perm[k:k + BATCH]
        loss = F.cross_entropy(net(x_train[idx]), y_train[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()          # linear decay counted in steps
        tot += loss.item()
    net.eval()
    with torch.no_grad():
        acc = (net(x_test).argmax(1) == y_test).float().mean().item()
    print(f"epoch {epoch}  loss {tot / (len(perm) // BATCH):.4f}  test acc {acc:.3f}")

share = torch.bincount(y_test).max().item() / len(y_test)
print(f"most common class alone would give {share:.3f}")
