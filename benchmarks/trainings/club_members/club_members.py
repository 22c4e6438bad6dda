# Who belongs to which club? Attention over friends, written with scatter operations.
# Transductive: all people and all friendships are in the one graph during training, only 8 labels per club are used.
# Full batch, no shuffling. Heavy dropout and decay because 40 labels are few.
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(13)
r = np.random.default_rng(13)
N, CLUBS, D = 1000, 5, 40

club = r.integers(0, CLUBS, N)
hobby = r.normal(size=(CLUBS, D))
x = torch.tensor(0.25 * hobby[club] + r.normal(size=(N, D)), dtype=torch.float32)
y = torch.tensor(club)
src, dst = [], []
for i in range(N):
    for _ in range(4):
        same = np.flatnonzero(club == club[i])
        j = int(r.choice(same)) if r.random() < 0.75 else int(r.integers(N))
        src += [i, j]
        dst += [j, i]
loops = list(range(N))                       # everyone is a friend of themselves
src, dst = torch.tensor(src + loops), torch.tensor(dst + loops)


class FriendAttention(nn.Module):
    def __init__(self, i, o, heads, p):
        super().__init__()
        self.h, self.o, self.p = heads, o, p
        self.w = nn.Linear(i, heads * o, bias=False)
        self.a_src = nn.Parameter(torch.randn(heads, o) * 0.1)
        self.a_dst = nn.Parameter(torch.randn(heads, o) * 0.1)

    def forward(self, x):
        z = self.w(F.dropout(x, self.p, self.training)).view(-1, self.h, self.o)
        s = F.leaky_relu((z * self.a_src).sum(-1)[src] + (z * self.a_dst).sum(-1)[dst], 0.2)
        e = (s - s.max()).exp()
        norm = torch.zeros(N, self.h).index_add_(0, dst, e)
        att = F.dropout(e / (norm[dst] + 1e-9), self.p, self.training)
        return torch.zeros_like(z).index_add_(0, dst, att[..., None] * z[src])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = FriendAttention(D, 8, 4, 0.5)
        self.two = FriendAttention(32, CLUBS, 1, 0.5)

    def forward(self):
        h = F.elu(self.one(x).flatten(1))
        return self.two(h).squeeze(1)


labelled = torch.cat([torch.tensor(np.flatnonzero(club == c)[:8]) for c in range(CLUBS)])
rest = torch.tensor(np.setdiff1d(np.arange(N), labelled.numpy()))
val, test = rest[:250], rest[250:]

net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2, weight_decay=5e-3)
best = (0.0, 0.0)
for epoch in range(120):
    net.train()
    loss = F.cross_entropy(net()[labelled], y[labelled])
    opt.zero_grad()
    loss.backward()
    opt.step()
    net.eval()
    with torch.no_grad():
        hit = (net().argmax(1) == y).float()
    v, t = hit[val].mean().item(), hit[test].mean().item()
    best = max(best, (v, t))                # model choice by the validation people only
    if epoch % 20 == 19:
        print(f"epoch {epoch + 1} loss {loss.item():.3f} val {v:.3f}")
print(f"test at best val {best[1]:.3f}; biggest club {y[test].bincount().max().item() / len(test):.3f}")
