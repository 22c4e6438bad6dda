"""Word-level GPT with tied input and output embeddings."""

import math
import random

import torch
from torch import nn
from torch.nn import functional as F

SUBJECTS = "fox dog crow bee carp mole".split()
ACTIONS = {"fox": "runs hides", "dog": "barks runs", "crow": "flies calls", "bee": "flies hums", "carp": "swims dives", "mole": "digs hides"}
PLACES = {"runs": "far", "hides": "well", "barks": "loud", "flies": "high", "calls": "loud", "hums": "softly", "swims": "far", "dives": "deep", "digs": "deep"}


def corpus(n, rng):
    words = []
    for _ in range(n):
        s = rng.choice(SUBJECTS)
        a = rng.choice(ACTIONS[s].split())
        words += ["the", s, a, PLACES[a], "."]
    return words


class Config:
    dim, heads, layers, block = 32, 2, 2, 20
    steps, batch, lr, tie = 200, 16, 1e-3, True


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(c.dim), nn.LayerNorm(c.dim)
        self.attn = nn.MultiheadAttention(c.dim, c.heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(c.dim, 4 * c.dim), nn.GELU(), nn.Linear(4 * c.dim, c.dim))

    def forward(self, x, mask):
        h = self.ln1(x)
        x = x + self.attn(h, h, h, attn_mask=mask, need_weights=False)[0]
        return x + self.mlp(self.ln2(x))


class WordGPT(nn.Module):
    def __init__(self, vocab, c):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab, c.dim), nn.Embedding(c.block, c.dim)
        self.blocks = nn.ModuleList(Block(c) for _ in range(c.layers))
        self.norm = nn.LayerNorm(c.dim)
        self.lm_head = nn.Linear(c.dim, vocab, bias=False)
        nn.init.normal_(self.wte.weight, std=0.02)
        nn.init.normal_(self.wpe.weight, std=0.02)

    def tie_weights(self):
        self.lm_head.weight = nn.Parameter(self.wte.weight.clone())

    def forward(self, ids, targets=None):
        t = ids.size(1)
        mask = torch.triu(torch.ones(t, t, dtype=torch.bool), 1)
        x = self.wte(ids) + self.wpe(torch.arange(t))
        for block in self.blocks:
            x = block(x, mask)
        logits = self.lm_head(self.norm(x))
        loss = None if targets is None else F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        return logits, loss


def batch(data, c):
    at = torch.randint(len(data) - c.block - 1, (c.batch,))
    return torch.stack([data[i:i + c.block] for i in at]), torch.stack([data[i + 1:i + c.block + 1] for i in at])


@torch.no_grad()
def perplexity(model, data, c):
    model.eval()
    loss = sum(model(*batch(data, c))[1].item() for _ in range(8)) / 8
    model.train()
    return math.exp(loss)


def main():
    c = Config()
    torch.manual_seed(5)
    words = corpus(2500, random.Random(5))
    vocab = sorted(set(words))
    data = torch.tensor([vocab.index(w) for w in words])
    train, val = data[:10000], data[10000:]
    model = WordGPT(len(vocab), c)
    optimizer = torch.optim.AdamW(model.parameters(), lr=c.lr, weight_decay=0.01)
    if c.tie:
        model.tie_weights()
    for step in range(1, c.steps + 1):
        _, loss = model(*batch(train, c))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 50 == 0:
            print(f"step {step} loss {loss.item():.4f} val perplexity {perplexity(model, val, c):.3f}")
    gap = (model.lm_head.weight - model.wte.weight).abs().max().item()
    print(f"{len(vocab)} words, largest difference of head and embedding {gap:.4f}")


if __name__ == "__main__":
    main()
