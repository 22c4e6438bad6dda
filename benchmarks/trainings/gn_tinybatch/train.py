# Counting blobs in tiny grey images with batches of 4, GroupNorm instead of BatchNorm,
# a steep one-cycle rate that is advanced once per optimizer step.
import numpy as np
import torch
from torch import nn
from torch.optim import SGD
from torch.optim.lr_scheduler import OneCycleLR

rng = np.random.default_rng(42)
torch.manual_seed(42)
SIDE, MAX_BLOBS = 14, 4


def draw(n):
    yy, xx = np.mgrid[:SIDE, :SIDE]
    imgs = rng.normal(0, 0.08, size=(n, 1, SIDE, SIDE)).astype("float32")
    counts = rng.integers(0, MAX_BLOBS + 1, size=n)
    for img, count in zip(imgs, counts):
        cells = rng.permutation(9)[:count]           # one blob per cell of a 3 x 3 grid, so none overlap
        for c in cells:
            cy, cx = 2.2 + 4.6 * (c // 3) + rng.uniform(-0.6, 0.6), 2.2 + 4.6 * (c % 3) + rng.uniform(-0.6, 0.6)
            img[0] += rng.uniform(0.6, 1.2) * np.exp(-((yy - cy) ** 2 + (xx - cx) ** 2) / 2.0)
    return torch.from_numpy(imgs), torch.from_numpy(counts)


def conv(cin, cout, stride):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, stride=stride, padding=1, bias=False),
        nn.GroupNorm(4, cout),
        nn.SiLU(),
    )


class BlobCounter(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(conv(1, 8, 1), conv(8, 16, 2), conv(16, 16, 1))
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(16 * 49, 48), nn.SiLU(), nn.Linear(48, MAX_BLOBS + 1))

    def forward(self, x):
        return self.head(self.body(x))


xtr, ytr = draw(1200)
xva, yva = draw(400)
model = BlobCounter()
EPOCHS, B = 6, 4
steps = len(xtr) // B
opt = SGD(model.parameters(), lr=0.01, momentum=0.85)
sched = OneCycleLR(opt, max_lr=0.06, total_steps=EPOCHS * steps, pct_start=0.25)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
print(f"{steps} steps an epoch, majority class {yva.bincount().max().item() / len(yva):.3f}")

for epoch in range(EPOCHS):
    model.train()
    losses = []
    for idx in torch.randperm(len(xtr))[: steps * B].view(steps, B):
        opt.zero_grad()
        loss = criterion(model(xtr[idx]), ytr[idx])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        opt.step()
        sched.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        p = model(xva).softmax(1)
    exact = (p.argmax(1) == yva).float().mean()
    expected = (p * torch.arange(MAX_BLOBS + 1)).sum(1)
    print(f"epoch {epoch}: lr {sched.get_last_lr()[0]:.4f} loss {np.mean(losses):.3f} "
          f"val acc {exact:.3f} count MAE {(expected - yva).abs().mean():.3f}")
