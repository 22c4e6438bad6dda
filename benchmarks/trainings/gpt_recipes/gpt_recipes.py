"""Character-level GPT on generated recipe lines; prints samples during training."""
import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

BLOCK = 32
BATCH = 12
STEPS = 300
EMBED = 32
HEADS = 2
DEPTH = 2
LR = 4e-3

VERBS = ["chop", "boil", "roast", "fold in", "whisk", "simmer", "toast"]
AMOUNTS = ["two cups of", "a pinch of", "three", "half a jar of", "some"]
FOODS = ["carrots", "lentils", "butter", "eggs", "rice", "basil", "onions", "walnuts"]
TIMES = ["for ten minutes", "until golden", "over low heat", "until soft"]


def make_corpus(n_lines, seed):
    rng = random.Random(seed)
    lines = []
    for _ in range(n_lines):
        lines.append(f"{rng.choice(VERBS)} {rng.choice(AMOUNTS)} {rng.choice(FOODS)} {rng.choice(TIMES)}.")
    return "\n".join(lines)


class SelfAttention(nn.Module):
    def __init__(self, dim, heads, block):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)
        self.drop = nn.Dropout(0.1)
        future = torch.triu(torch.ones(block, block, dtype=torch.bool), diagonal=2)
        self.register_buffer("future", future)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).split(c, dim=2)
        q = q.view(b, t, self.heads, -1).transpose(1, 2)
        k = k.view(b, t, self.heads, -1).transpose(1, 2)
        v = v.view(b, t, self.heads, -1).transpose(1, 2)
        att = q @ k.transpose(-2, -1) / math.sqrt(k.size(-1))
        att = att.masked_fill(self.future[:t, :t], float("-inf"))
        att = self.drop(F.softmax(att, dim=-1))
        y = (att @ v).transpose(1, 2).reshape(b, t, c)
        return self.out(y)


class Block(nn.Module):
    def __init__(self, dim, heads, block):
        super().__init__()
        self.ln1 = nn.LayerNorm(dim)
        self.attn = SelfAttention(dim, heads, block)
        self.ln2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim), nn.Dropout(0.1))

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class CharGPT(nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.tok = nn.Embedding(vocab, EMBED)
        self.pos = nn.Embedding(BLOCK, EMBED)
        self.blocks = nn.Sequential(*[Block(EMBED, HEADS, BLOCK) for _ in range(DEPTH)])
        self.norm = nn.LayerNorm(EMBED)
        self.head = nn.Linear(EMBED, vocab)

    def forward(self, idx, targets=None):
        pos = torch.arange(idx.size(1), device=idx.device)
        x = self.tok(idx) + self.pos(pos)
        logits = self.head(self.norm(self.blocks(x)))
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))

    @torch.no_grad()
    def generate(self, idx, n):
        for _ in range(n):
            logits, _ = self(idx[:, -BLOCK:])
            probs = F.softmax(logits[:, -1], dim=-1)
            idx = torch.cat([idx, torch.multinomial(probs, 1)], dim=1)
        return idx


def get_batch(data, generator):
    starts = torch.randint(len(data) - BLOCK - 1, (BATCH,), generator=generator)
    x = torch.stack([data[s : s + BLOCK] for s in starts])
    y = torch.stack([data[s + 1 : s + BLOCK + 1] for s in starts])
    return x, y


@torch.no_grad()
def validate(model, data, generator, rounds=4):
    model.eval()
    losses = [model(*get_batch(data, generator))[1].item() for _ in range(rounds)]
    model.train()
    return sum(losses) / len(losses)


def main():
    torch.manual_seed(1337)
    text = make_corpus(3000, seed=5)
    chars = sorted(set(text))
    stoi = {c: i for i, c in enumerate(chars)}
    data = torch.tensor([stoi[c] for c in text])
    cut = int(0.9 * len(data))
    train_data, val_data = data[:cut], data[cut:]
    gen = torch.Generator().manual_seed(0)

    model = CharGPT(len(chars))
    optimizer = torch.optim.AdamW(model.parameters(), lr=LR, weight_decay=0.01)
    for step in range(STEPS + 1):
        if step % 60 == 0:
            val = validate(model, val_data, gen)
            print(f"step {step} val loss {val:.4f} perplexity {math.exp(val):.2f}")
        _, loss = model(*get_batch(train_data, gen))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    model.eval()
    out = model.generate(torch.tensor([[stoi["\n"]]]), 200)[0]
    print("".join(chars[i] for i in out.tolist()))


if __name__ == "__main__":
    main()
