"""Self-supervised rotation pretraining, then a linear probe on the frozen trunk."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(0)
d = load_digits()
X = torch.tensor(d.images, dtype=torch.float32)[:, None] / 16 - 0.3
Y = torch.tensor(d.target)
order = torch.randperm(len(X))
X, Y = X[order], Y[order]
N = 1300


class Trunk(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 24, 3, padding=1)
        self.c2 = nn.Conv2d(24, 48, 3, padding=1)
        self.c3 = nn.Conv2d(48, 32, 3, padding=1)
        self.bn = nn.BatchNorm2d(48)

    def forward(self, x):
        x = F.relu(self.c1(x))
        x = F.max_pool2d(F.relu(self.bn(self.c2(x))), 2)
        return F.relu(self.c3(x)).flatten(1)


def rotations(x):
    return torch.cat([torch.rot90(x, k, (2, 3)) for k in range(4)]), torch.arange(4).repeat_interleave(len(x))


def pretrain(trunk, epochs=6):
    head = nn.Linear(32 * 16, 4)
    opt = torch.optim.Adam([*trunk.parameters(), *head.parameters()], lr=2e-3)
    for ep in range(epochs):
        trunk.train()
        hit = 0
        for idx in torch.randperm(N).split(50):
            x, y = rotations(X[idx])
            out = head(trunk(x))
            loss = F.cross_entropy(out, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            hit += (out.argmax(1) == y).sum().item()
        print(f"rotation epoch {ep + 1}: acc {hit / (4 * N):.3f}")


def linear_probe(trunk):
    trunk.eval()                       # stays in eval mode: its statistics are part of the frozen features
    for p in trunk.parameters():
        p.requires_grad = False
    with torch.no_grad():
        feats = F.normalize(trunk(X), dim=1)
    head = nn.Linear(feats.shape[1], 10)
    opt = torch.optim.SGD(head.parameters(), lr=20.0, momentum=0.9)   # unit-length features, tiny gradients
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 100)
    for it in range(100):
        loss = F.cross_entropy(head(feats[:N]), Y[:N])
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        if it % 20 == 19:
            acc = (head(feats[N:]).argmax(1) == Y[N:]).float().mean().item()
            print(f"probe iter {it + 1}: loss {loss.item():.3f} test acc {acc:.3f}")


if __name__ == "__main__":
    trunk = Trunk()
    pretrain(trunk)
    linear_probe(trunk)
