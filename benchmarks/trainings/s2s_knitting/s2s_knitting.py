"""Expand knitting shorthand (a stitch and its count) into stitches: GRU encoder, GRU decoder with attention."""

import random

import torch
import torch.nn.functional as F
from torch import nn

SEED = 5
random.seed(SEED)
torch.manual_seed(SEED)
STITCHES, MOST, PAIRS, LENGTH = 4, 3, 3, 10
PAD, BOS = 0, 1


def pattern():
    """Shorthand: (stitch, count) three times; target: the stitches written out, padded to a fixed length."""
    shorthand, row = [], []
    for _ in range(PAIRS):
        stitch, count = random.randrange(STITCHES), random.randint(1, MOST)
        shorthand += [2 + stitch, 2 + STITCHES + count - 1]
        row += [2 + stitch] * count
    return shorthand, row + [PAD] * (LENGTH - len(row))


class Encoder(nn.Module):
    def __init__(self, vocab, width):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.GRU(width, width)

    def forward(self, source):
        states, last = self.rnn(self.embed(source))
        return states, states[:, -1]


class Decoder(nn.Module):
    def __init__(self, vocab, width):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.cell = nn.GRUCell(2 * width, width)
        self.out = nn.Linear(2 * width, vocab)

    def forward(self, states, hidden, target):
        logits = []
        token = torch.full((len(target),), BOS)
        for step in range(target.shape[1]):
            weight = torch.softmax((states @ hidden.unsqueeze(-1)).squeeze(-1), dim=1)
            context = (weight.unsqueeze(-1) * states).sum(1)
            hidden = self.cell(torch.cat([self.embed(token), context], dim=1), hidden)
            logits.append(self.out(torch.cat([hidden, context], dim=1)))
            token = target[:, step] if self.training else logits[-1].argmax(-1)
        return torch.stack(logits, dim=1)


class Knitter(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.encoder = Encoder(2 + STITCHES + MOST, width)
        self.decoder = Decoder(2 + STITCHES, width)

    def forward(self, source, target):
        return self.decoder(*self.encoder(source), target)


def batch(patterns):
    source, target = zip(*patterns)
    return torch.tensor(source), torch.tensor(target)


train, test = [pattern() for _ in range(2500)], [pattern() for _ in range(300)]
model = Knitter()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    model.train()
    random.shuffle(train)
    total = 0.0
    for start in range(0, len(train), 50):
        source, target = batch(train[start : start + 50])
        loss = F.cross_entropy(model(source, target).flatten(0, 1), target.flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        source, target = batch(test)
        right = (model(source, target).argmax(-1) == target).all(1).float().mean().item()
    print(f"epoch {epoch} loss {total / 50:.4f} whole rows right {right:.3f}")
