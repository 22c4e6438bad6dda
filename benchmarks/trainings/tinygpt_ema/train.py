"""Decoder-only transformer on two-digit additions written as text ('37+48=85.'); only the answer is scored.
Tied embeddings, rate 5e-3 with warm-up and linear decay, weights averaged (EMA) for evaluation."""
import copy
import math
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(97)
CHARS = "0123456789+=."
IDX = {c: i for i, c in enumerate(CHARS)}
CTX = 9


def encode(a, b):
    s = f"{a:02d}+{b:02d}=" + f"{a + b:03d}"[::-1]
    return [IDX[c] for c in s]


every = torch.tensor([encode(a, b) for a in range(60) for b in range(60)])
perm = torch.randperm(len(every), generator=torch.Generator().manual_seed(1))
held_out, train = every[perm[:400]], every[perm[400:]]


class Layer(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.ff = nn.Sequential(nn.Linear(d, 3 * d), nn.GELU(), nn.Linear(3 * d, d))

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(b, t, d))
        return x + self.ff(self.n2(x))


class TinyGPT(nn.Module):
    def __init__(self, d=64, layers=2, heads=4):
        super().__init__()
        self.tok = nn.Embedding(len(CHARS), d)
        self.pos = nn.Parameter(torch.randn(CTX, d) * 0.02)
        self.layers = nn.ModuleList(Layer(d, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(d)
        self.head = nn.Linear(d, len(CHARS), bias=False)
        self.head.weight = self.tok.weight
        nn.init.normal_(self.tok.weight, std=0.1)

    def forward(self, idx):
        x = self.tok(idx) + self.pos[: idx.shape[1]]
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def answer_loss(model, rows):
    logits = model(rows[:, :-1])
    goal = rows[:, 1:].clone()
    goal[:, :5] = -100
    return F.cross_entropy(logits.flatten(0, 1), goal.flatten(), ignore_index=-100)


@torch.no_grad()
def solve(model, rows):
    out = rows[:, :6]
    for _ in range(3):
        out = torch.cat([out, model(out)[:, -1].argmax(-1, keepdim=True)], 1)
    return (out == rows).all(1).float().mean().item()


STEPS, WARM, PEAK = 700, 60, 5e-3
model = TinyGPT()
average = copy.deepcopy(model).requires_grad_(False)
opt = torch.optim.AdamW(model.parameters(), lr=PEAK, betas=(0.9, 0.98), weight_decay=0.01)
rate = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min((s + 1) / WARM, (STEPS - s) / (STEPS - WARM)))
t0, run = time.time(), 0.0
for step in range(1, STEPS + 1):
    rows = train[torch.randint(0, len(train), (96,))]
    loss = answer_loss(model, rows)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    rate.step()
    decay = min(0.98, step / (step + 10))
    with torch.no_grad():
        for slow, fast in zip(average.parameters(), model.parameters()):
            slow.mul_(decay).add_(fast, alpha=1 - decay)
    run += loss.item()
    if step % 100 == 0:
        held = answer_loss(average, held_out).item()
        print(f"step {step} loss {run / 100:.4f} held-out loss {held:.4f} ppl {math.exp(held):.3f} sums right {solve(average, held_out):.3f} [{time.time() - t0:.0f}s]")
        run = 0.0
