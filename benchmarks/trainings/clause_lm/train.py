"""Character-level language model on generated clauses.

usage: python train.py --steps 400 --dim 48
"""
import argparse
import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

NOUNS = "farmer baker sailor miner teacher singer painter doctor pilot weaver".split()
VERBS = "helps meets calls paints visits follows admires warns".split()
PLACES = "harbour market village station garden museum bridge".split()
ADJ = "old young quiet busy clever tired".split()


def make_corpus(n, seed):
    rng = random.Random(seed)
    out = []
    for _ in range(n):
        a, b = rng.sample(NOUNS, 2)
        s = f"the {rng.choice(ADJ)} {a} {rng.choice(VERBS)} the {b}"
        if rng.random() < 0.6:
            s += f" near the {rng.choice(PLACES)}"
        out.append(s + ". ")
    return "".join(out)


class Attention(nn.Module):
    def __init__(self, dim, heads, drop):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.out = nn.Linear(dim, dim, bias=False)
        self.drop = drop

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        p = self.drop if self.training else 0.0
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=p)
        return self.out(y.transpose(1, 2).reshape(b, t, d))


class Block(nn.Module):
    def __init__(self, dim, heads, drop):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = Attention(dim, heads, drop)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim), nn.Dropout(drop))

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class CharLM(nn.Module):
    def __init__(self, vocab, dim, heads, layers, block, drop):
        super().__init__()
        self.block = block
        self.tok = nn.Embedding(vocab, dim)
        self.pos = nn.Embedding(block, dim)
        self.blocks = nn.ModuleList([Block(dim, heads, drop) for _ in range(layers)])
        self.ln = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab)

    def forward(self, idx, targets=None):
        x = self.tok(idx) + self.pos(torch.arange(idx.size(1), device=idx.device))
        for blk in self.blocks:
            x = blk(x)
        logits = self.head(self.ln(x))
        if targets is None:
            return logits
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    @torch.no_grad()
    def generate(self, idx, n):
        self.eval()
        for _ in range(n):
            logits = self(idx[:, -self.block:])[:, -1]
            idx = torch.cat([idx, torch.multinomial(logits.softmax(-1), 1)], 1)
        return idx


def get_batch(data, bs, block):
    ix = torch.randint(len(data) - block - 1, (bs,))
    x = torch.stack([data[i:i + block] for i in ix])
    y = torch.stack([data[i + 1:i + block + 1] for i in ix])
    return x, y


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=400)
    ap.add_argument("--batch-size", type=int, default=16)
    ap.add_argument("--block", type=int, default=32)
    ap.add_argument("--dim", type=int, default=48)
    ap.add_argument("--lr", type=float, default=4e-3)
    ap.add_argument("--seed", type=int, default=0)
    args = ap.parse_args()
    torch.manual_seed(args.seed)

    train_txt, val_txt = make_corpus(4000, 1), make_corpus(400, 2)
    chars = sorted(set(train_txt))
    stoi = {c: i for i, c in enumerate(chars)}
    enc = lambda s: torch.tensor([stoi[c] for c in s])
    train, val = enc(train_txt), enc(val_txt)

    model = CharLM(len(chars), args.dim, 4, 2, args.block, 0.1)
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.01)
    lr_at = lambda s: min(1.0, (s + 1) / 50) * 0.5 * (1 + math.cos(math.pi * s / args.steps))
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lr_at)

    for step in range(args.steps):
        model.train()
        x, y = get_batch(train, args.batch_size, args.block)
        _, loss = model(x, y)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
        if (step + 1) % 50 == 0:
            model.eval()
            with torch.no_grad():
                vl = sum(model(*get_batch(val, 64, args.block))[1].item() for _ in range(4)) / 4
            print(f"step {step + 1}: train {loss.item():.3f} val {vl:.3f}")

    lexicon = set(NOUNS + VERBS + PLACES + ADJ + ["the", "near"])
    start = enc(val_txt[:args.block]).repeat(8, 1)
    text = model.generate(start, 100)[:, args.block:]
    words = [w for row in text for w in "".join(chars[i] for i in row).replace(".", " ").split()[1:-1]]
    good = sum(w in lexicon for w in words) / max(1, len(words))
    print("sample:", "".join(chars[i] for i in text[0]))
    print(f"final val loss {vl:.3f}  generated words that exist: {good:.2f}")


if __name__ == "__main__":
    main()
