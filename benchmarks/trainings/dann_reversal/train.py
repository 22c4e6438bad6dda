"""Domain-adversarial training: labelled source measurements, unlabelled target measurements from a shifted sensor.

The feature extractor is trained against the domain critic through a custom gradient-reversal function.
"""
import math

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(99)


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.strength * grad, None


DIM, K = 20, 4
CENTRES = torch.randn(K, DIM) * 1.1
DRIFT = torch.zeros(DIM)
DRIFT[:6] = 3.0


def sample(n, shifted):
    y = torch.randint(K, (n,))
    x = CENTRES[y] + torch.randn(n, DIM) * 0.9
    x[:, :6] = x[:, :6] * 0.2              # the drifting channels say little about the class
    if shifted:
        x = x + DRIFT * (1 + 0.3 * torch.randn(n, 1))
    return x, y


class Dann(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(DIM, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
        self.label = nn.Linear(32, K)
        self.domain = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x, strength=0.0):
        z = self.features(x)
        return self.label(z), self.domain(Reverse.apply(z, strength)).squeeze(-1)


xs, ys = sample(2000, shifted=False)
xt, _ = sample(2000, shifted=True)          # labels of the target domain are never used in training
xt_test, yt_test = sample(1000, shifted=True)
xs_test, ys_test = sample(1000, shifted=False)

net = Dann()
opt = torch.optim.SGD(net.parameters(), lr=0.03, momentum=0.9)
EPOCHS, B = 40, 50
steps = len(xs) // B
for epoch in range(EPOCHS):
    net.train()
    ps, pt = torch.randperm(len(xs)), torch.randperm(len(xt))
    cls_sum = dom_sum = dom_ok = 0.0
    for i in range(steps):
        progress = (epoch * steps + i) / (EPOCHS * steps)
        strength = 2.0 / (1.0 + math.exp(-10 * progress)) - 1.0
        bs, bt = ps[i * B:(i + 1) * B], pt[i * B:(i + 1) * B]
        logits, dom = net(torch.cat([xs[bs], xt[bt]]), strength)
        where = torch.cat([torch.zeros(B), torch.ones(B)])
        cls_loss = F.cross_entropy(logits[:B], ys[bs])
        dom_loss = F.binary_cross_entropy_with_logits(dom, where)
        opt.zero_grad()
        (cls_loss + dom_loss).backward()
        opt.step()
        cls_sum += cls_loss.item()
        dom_sum += dom_loss.item()
        dom_ok += ((dom > 0).float() == where).float().mean().item()
    if epoch % 4 == 3:
        net.eval()
        with torch.no_grad():
            src = (net(xs_test)[0].argmax(1) == ys_test).float().mean()
            tgt = (net(xt_test)[0].argmax(1) == yt_test).float().mean()
        print(f"epoch {epoch + 1:2d} class {cls_sum / steps:.3f} domain {dom_sum / steps:.3f} "
              f"(critic acc {dom_ok / steps:.2f}) source acc {src:.3f} target acc {tgt:.3f}")
