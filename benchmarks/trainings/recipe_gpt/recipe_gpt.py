"""A very small GPT on made-up recipe lines ("stir 3 eggs then fold 2 cups ...")."""
import math
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

VERBS = ["stir", "fold", "boil", "chop", "bake"]
THINGS = {"stir": "milk", "fold": "eggs", "boil": "rice", "chop": "leek", "bake": "bread"}
CHARS = sorted(set("abcdefghijklmnopqrstuvwxyz 0123456789.\n"))
STOI = {c: i for i, c in enumerate(CHARS)}


@dataclass
class GPTConfig:
    vocab: int = len(CHARS)
    block: int = 32
    n_layer: int = 2
    n_head: int = 4
    n_embd: int = 48


class SelfAttention(nn.Module):
    def __init__(self, c: GPTConfig):
        super().__init__()
        self.n_head = c.n_head
        self.qkv = nn.Linear(c.n_embd, 3 * c.n_embd)
        self.proj = nn.Linear(c.n_embd, c.n_embd)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).split(C, dim=2)
        q, k, v = (t.view(B, T, self.n_head, C // self.n_head).transpose(1, 2) for t in (q, k, v))
        att = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
        att = F.softmax(att, dim=-1)
        y = (att @ v).transpose(1, 2).reshape(B, T, C)
        return self.proj(y)


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(c.n_embd), nn.LayerNorm(c.n_embd)
        self.attn = SelfAttention(c)
        self.mlp = nn.Sequential(nn.Linear(c.n_embd, 4 * c.n_embd), nn.GELU(), nn.Linear(4 * c.n_embd, c.n_embd))

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, c: GPTConfig):
        super().__init__()
        self.c = c
        self.tok = nn.Embedding(c.vocab, c.n_embd)
        self.pos = nn.Embedding(c.block, c.n_embd)
        self.blocks = nn.ModuleList(Block(c) for _ in range(c.n_layer))
        self.ln = nn.LayerNorm(c.n_embd)
        self.head = nn.Linear(c.n_embd, c.vocab, bias=False)

    def forward(self, idx, targets=None):
        x = self.tok(idx) + self.pos(torch.arange(idx.size(1)))
        for b in self.blocks:
            x = b(x)
        logits = self.head(self.ln(x))
        loss = None if targets is None else F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        return logits, loss

    @torch.no_grad()
    def generate(self, idx, n):
        for _ in range(n):
            logits, _ = self(idx[:, -self.c.block:])
            idx = torch.cat([idx, logits[:, -1].argmax(-1, keepdim=True)], 1)
        return idx


def corpus(n, g):
    out = []
    for _ in range(n):
        verb = VERBS[torch.randint(5, (1,), generator=g)]
        k = torch.randint(1, 10, (1,), generator=g).item()
        out.append(f"{verb} {k} {THINGS[verb]}.\n")
    return torch.tensor([STOI[c] for c in "".join(out)])


def batch(data, c, g, size=24):
    at = torch.randint(len(data) - c.block - 1, (size,), generator=g)
    x = torch.stack([data[i:i + c.block] for i in at])
    y = torch.stack([data[i + 1:i + 1 + c.block] for i in at])
    return x, y


def main():
    torch.manual_seed(11)
    g = torch.Generator().manual_seed(4)
    train, held_out = corpus(4000, g), corpus(400, g)
    c = GPTConfig()
    model = GPT(c)
    opt = torch.optim.AdamW(model.parameters(), lr=2e-3, betas=(0.9, 0.95))
    for step in range(281):
        x, y = batch(train, c, g)
        _, loss = model(x, y)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        if step % 40 == 0:
            with torch.no_grad():
                v = sum(model(*batch(held_out, c, g))[1].item() for _ in range(4)) / 4
            print(f"step {step} train {loss.item():.3f} held out {v:.3f}")
    right = 0
    for verb in VERBS:
        for k in range(1, 10):
            prompt = f"bake 2 bread.\n{verb} {k} "
            ids = torch.tensor([[STOI[ch] for ch in prompt]])
            want = THINGS[verb] + "."
            text = "".join(CHARS[i] for i in model.generate(ids, len(want))[0].tolist())
            right += text[len(prompt):] == want
    print(f"lines completed correctly: {right}/45")


if __name__ == "__main__":
    main()
