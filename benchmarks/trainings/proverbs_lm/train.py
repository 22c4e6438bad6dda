"""Small GPT on templated proverbs, tied embeddings, sign-momentum (Lion) optimiser.

Validation is a contiguous tail of the text.
"""
import argparse
import itertools
import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F


class Lion(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.99), weight_decay=0.1):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for g in self.param_groups:
            b1, b2 = g["betas"]
            for p in g["params"]:
                if p.grad is None:
                    continue
                m = self.state[p].setdefault("m", torch.zeros_like(p))
                p.mul_(1 - g["lr"] * g["weight_decay"])
                p.add_(torch.sign(b1 * m + (1 - b1) * p.grad), alpha=-g["lr"])
                m.mul_(b2).add_(p.grad, alpha=1 - b2)


def corpus(n, seed):
    r = random.Random(seed)
    subj = "a stone|the wind|an empty jar|the patient fox|a late guest".split("|")
    verb = "gathers|carries|forgets|teaches|follows".split("|")
    obj = "no moss|the seed|every song|the river|its own shadow".split("|")
    return " ".join(f"{r.choice(subj)} {r.choice(verb)} {r.choice(obj)};" for _ in range(n))


class Block(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.o = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.ff = nn.Sequential(nn.Linear(d, 3 * d), nn.GELU(), nn.Linear(3 * d, d))

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (z.view(b, t, self.h, -1).transpose(1, 2) for z in self.qkv(self.n1(x)).chunk(3, -1))
        att = (q @ k.transpose(-1, -2)) / math.sqrt(d // self.h)
        att = att + torch.full((t, t), float("-inf")).triu(1)
        x = x + self.o((att.softmax(-1) @ v).transpose(1, 2).reshape(b, t, d))
        return x + self.ff(self.n2(x))


class LM(nn.Module):
    def __init__(self, vocab, d=48, block=32):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, d), nn.Parameter(0.02 * torch.randn(block, d))
        self.body = nn.Sequential(Block(d, 4), Block(d, 4), nn.LayerNorm(d))
        self.head = nn.Linear(d, vocab, bias=False)
        self.head.weight = self.tok.weight
        nn.init.normal_(self.tok.weight, std=0.05)

    def forward(self, ids):
        return self.head(self.body(self.tok(ids) + self.pos[: ids.size(1)]))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=300)
    ap.add_argument("--batch", type=int, default=16)
    ap.add_argument("--block", type=int, default=32)
    args = ap.parse_args()
    torch.manual_seed(0)
    text = corpus(3000, 0)
    chars = sorted(set(text))
    ids = torch.tensor([chars.index(c) for c in text])
    cut = int(0.9 * len(ids))
    rows = ids[: cut // args.block * args.block].view(-1, args.block)   # read in order, no shuffling
    model = LM(len(chars), block=args.block)
    opt = Lion(model.parameters(), lr=1e-3)
    stream = itertools.cycle(rows.split(args.batch))
    for step in range(args.steps):
        for g in opt.param_groups:
            g["lr"] = 1e-3 * min(1, (step + 1) / 20) * (1 - step / args.steps)
        x = next(stream)
        logits = model(x)
        loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), x[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        if (step + 1) % 60 == 0:
            v = ids[cut:]
            v = v[: len(v) // args.block * args.block].view(-1, args.block)[:100]
            with torch.no_grad():
                vl = F.cross_entropy(model(v)[:, :-1].flatten(0, 1), v[:, 1:].flatten()).item()
            print(f"step {step + 1} train {loss.item():.3f} val {vl:.3f}")
    freq = torch.bincount(ids[:cut], minlength=len(chars)).float()
    uni = -(freq / freq.sum()).clamp_min(1e-9).log()[v].mean().item()
    print(f"val loss {vl:.3f} nats/char (unigram model {uni:.3f})")


if __name__ == "__main__":
    main()
