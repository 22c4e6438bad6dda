"""Character-level GPT that learns two-digit addition written out as text."""
import math
import random
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1337)
random.seed(1337)

VOCAB = list("0123456789+=;\n")
STOI = {c: i for i, c in enumerate(VOCAB)}


@dataclass
class GPTConfig:
    vocab_size: int = len(VOCAB)
    block_size: int = 24
    n_layer: int = 2
    n_head: int = 4
    n_embd: int = 64


class SelfAttention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.n_head = cfg.n_head
        self.qkv = nn.Linear(cfg.n_embd, 3 * cfg.n_embd)
        self.out = nn.Linear(cfg.n_embd, cfg.n_embd)
        tri = torch.ones(cfg.block_size, cfg.block_size).tril(diagonal=1)
        self.register_buffer("tri", tri.view(1, 1, cfg.block_size, cfg.block_size))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (t.view(B, T, self.n_head, C // self.n_head).transpose(1, 2) for t in (q, k, v))
        att = q @ k.transpose(-2, -1) / math.sqrt(k.size(-1))
        att = att.masked_fill(self.tri[:, :, :T, :T] == 0, float("-inf"))
        att = F.softmax(att, dim=-1)
        y = (att @ v).transpose(1, 2).reshape(B, T, C)
        return self.out(y)


class Block(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.ln1 = nn.LayerNorm(cfg.n_embd)
        self.attn = SelfAttention(cfg)
        self.ln2 = nn.LayerNorm(cfg.n_embd)
        self.mlp = nn.Sequential(
            nn.Linear(cfg.n_embd, 4 * cfg.n_embd), nn.GELU(), nn.Linear(4 * cfg.n_embd, cfg.n_embd)
        )

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.tok = nn.Embedding(cfg.vocab_size, cfg.n_embd)
        self.pos = nn.Embedding(cfg.block_size, cfg.n_embd)
        self.blocks = nn.ModuleList(Block(cfg) for _ in range(cfg.n_layer))
        self.ln_f = nn.LayerNorm(cfg.n_embd)
        self.head = nn.Linear(cfg.n_embd, cfg.vocab_size, bias=False)

    def forward(self, idx, targets=None):
        x = self.tok(idx) + self.pos(torch.arange(idx.size(1), device=idx.device))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.ln_f(x))
        loss = None
        if targets is not None:
            loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        return logits, loss

    @torch.no_grad()
    def complete(self, idx, stop, max_new=5):
        for _ in range(max_new):
            logits, _ = self(idx[:, -self.cfg.block_size:])
            nxt = logits[:, -1].argmax(-1, keepdim=True)
            idx = torch.cat([idx, nxt], dim=1)
            if nxt.item() == stop:
                break
        return idx


def make_line(a, b):
    return f"{a}+{b}={str(a + b)[::-1]};"


pairs = [(a, b) for a in range(10, 40) for b in range(10, 40)]
random.shuffle(pairs)
val_pairs, train_pairs = pairs[:120], pairs[120:]


def make_stream(pairs, repeats):
    text = []
    for _ in range(repeats):
        random.shuffle(pairs)
        text += [make_line(a, b) for a, b in pairs]
    return torch.tensor([STOI[c] for c in "".join(text)])


train_data, val_data = make_stream(train_pairs, 20), make_stream(val_pairs, 6)


def get_batch(data, batch_size=64, T=24):
    ix = torch.randint(len(data) - T - 1, (batch_size,))
    x = torch.stack([data[i:i + T] for i in ix])
    y = torch.stack([data[i + 1:i + T + 1] for i in ix])
    return x, y


@torch.no_grad()
def estimate_loss(model, iters=5):
    model.eval()
    out = {}
    for name, data in (("train", train_data), ("val", val_data)):
        out[name] = sum(model(*get_batch(data))[1].item() for _ in range(iters)) / iters
    model.train()
    return out


@torch.no_grad()
def exact_match(model, pairs):
    model.eval()
    hits = 0
    for a, b in pairs:
        prompt = torch.tensor([[STOI[c] for c in f"{a}+{b}="]])
        seq = model.complete(prompt, STOI[";"])[0, prompt.size(1):]
        answer = "".join(VOCAB[i] for i in seq).rstrip(";")
        hits += answer == str(a + b)[::-1]
    model.train()
    return hits / len(pairs)


def main():
    model = GPT(GPTConfig())
    print(f"{sum(p.numel() for p in model.parameters()) / 1e3:.1f}k parameters")
    steps, warmup, peak = 500, 40, 5e-3
    opt = torch.optim.AdamW(model.parameters(), lr=peak, betas=(0.9, 0.95), weight_decay=0.05)
    for step in range(1, steps + 1):
        frac = step / warmup if step < warmup else 0.5 * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup)))
        for g in opt.param_groups:
            g["lr"] = peak * max(frac, 0.03)
        _, loss = model(*get_batch(train_data))
        opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        if step % 100 == 0:
            ev = estimate_loss(model)
            print(f"step {step:4d} | train {ev['train']:.4f} | val {ev['val']:.4f}")
    print(f"exact match on unseen sums: {exact_match(model, val_pairs):.3f}")


if __name__ == "__main__":
    main()
