"""Rate product reviews: ragged token rows padded to one rectangle, masked mean+max pooling, ordinal (cumulative) loss."""
import argparse
import random

import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.utils.data import DataLoader, Dataset

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=14)
parser.add_argument("--bs", type=int, default=50)
parser.add_argument("--lr", type=float, default=4e-3)
opt = parser.parse_args()
random.seed(3)
torch.manual_seed(3)

VOCAB, STARS = 200, 5


class Reviews(Dataset):
    """Every token has a hidden polarity in [-1, 1]; the star count depends on the mean polarity."""

    polarity = torch.linspace(-1, 1, VOCAB - 1)[torch.randperm(VOCAB - 1)]

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.rows, self.stars = [], []
        for _ in range(n):
            length = int(torch.randint(3, 30, (1,), generator=g))
            mood = float(torch.empty(1).uniform_(-0.9, 0.9, generator=g))
            cand = torch.randint(1, VOCAB, (6 * length,), generator=g)
            score = -((self.polarity[cand - 1] - mood) ** 2) * 4 + torch.rand(cand.shape, generator=g)
            row = cand[score.topk(length).indices]
            self.rows.append(row)
            mean = self.polarity[row - 1].mean()
            self.stars.append(int(torch.bucketize(mean, torch.tensor([-0.5, -0.17, 0.17, 0.5]))))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i], self.stars[i]


def ragged(batch):
    rows, stars = zip(*batch)
    width = max(map(len, rows))
    ids = torch.stack([F.pad(r, (0, width - len(r))) for r in rows])
    return ids, ids.ne(0), torch.tensor(stars)


class MaskedPool(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.table = nn.Embedding(VOCAB, dim, padding_idx=0)
        self.mix = nn.Conv1d(dim, dim, 3, padding=1)
        self.norm = nn.LayerNorm(2 * dim)
        self.score = nn.Linear(2 * dim, 1, bias=False)
        self.cuts = nn.Parameter(torch.linspace(-2, 2, STARS - 1))

    def forward(self, ids, mask):
        h = self.table(ids)
        h = h + self.mix(h.transpose(1, 2)).transpose(1, 2).relu()
        m = mask.unsqueeze(-1)
        mean = (h * m).sum(1) / m.sum(1)
        peak = h.masked_fill(~m, -1e9).amax(1)
        s = self.score(self.norm(torch.cat([mean, peak], -1)))
        return s - self.cuts                      # logits of "more stars than k"


def ordinal_loss(logits, stars):
    above = (stars[:, None] > torch.arange(STARS - 1)).float()
    return F.binary_cross_entropy_with_logits(logits, above, reduction="none").sum(1).mean()


train_loader = DataLoader(Reviews(3000, 1), opt.bs, shuffle=True, collate_fn=ragged)
test_loader = DataLoader(Reviews(700, 2), 100, collate_fn=ragged)

net = MaskedPool()
optimizer = optim.NAdam(net.parameters(), lr=opt.lr)
scheduler = optim.lr_scheduler.PolynomialLR(optimizer, total_iters=opt.epochs, power=1.5)

for epoch in range(opt.epochs):
    net.train()
    total = 0.0
    for ids, mask, stars in train_loader:
        loss = ordinal_loss(net(ids, mask), stars)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(stars)
    scheduler.step()

    net.eval()
    guess, truth = [], []
    with torch.inference_mode():
        for ids, mask, stars in test_loader:
            guess.append((net(ids, mask) > 0).sum(1))
            truth.append(stars)
    guess, truth = torch.cat(guess), torch.cat(truth)
    base = (truth == truth.mode().values).float().mean()
    print(f"[{epoch + 1}/{opt.epochs}] loss={total / len(train_loader.dataset):.3f} acc={(guess == truth).float().mean():.3f} "
          f"mae={(guess - truth).abs().float().mean():.3f} (majority acc={base:.3f})")
