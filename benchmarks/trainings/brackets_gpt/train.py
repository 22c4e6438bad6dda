"""A small GPT on balanced bracket strings. Trains a character model and samples closings."""
import math
import random
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}
CHARS = "".join(PAIRS.keys()) + "".join(PAIRS.values()) + "."
stoi = {c: i for i, c in enumerate(CHARS)}


@dataclass
class GPTConfig:
    vocab_size: int = len(CHARS)
    block_size: int = 32
    n_layer: int = 2
    n_head: int = 4
    n_embd: int = 48


def random_string(rng, length=32):
    """Open up to three brackets, close them all, dot, repeat until full."""
    out = []
    while len(out) < length + 1:
        opened = [rng.choice(list(PAIRS)) for _ in range(rng.randint(1, 4))]
        out += opened + [PAIRS[c] for c in reversed(opened)] + ["."]
    return [stoi[c] for c in out[: length + 1]]


class SelfAttention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.n_head = cfg.n_head
        self.qkv = nn.Linear(cfg.n_embd, 3 * cfg.n_embd)
        self.proj = nn.Linear(cfg.n_embd, cfg.n_embd)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).split(C, dim=2)
        q, k, v = (t.view(B, T, self.n_head, C // self.n_head).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=0.0)
        return self.proj(y.transpose(1, 2).reshape(B, T, C))


class Block(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(cfg.n_embd), nn.LayerNorm(cfg.n_embd)
        self.attn = SelfAttention(cfg)
        self.mlp = nn.Sequential(nn.Linear(cfg.n_embd, 4 * cfg.n_embd), nn.GELU(), nn.Linear(4 * cfg.n_embd, cfg.n_embd))

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.wte = nn.Embedding(cfg.vocab_size, cfg.n_embd)
        self.wpe = nn.Embedding(cfg.block_size, cfg.n_embd)
        self.blocks = nn.ModuleList([Block(cfg) for _ in range(cfg.n_layer)])
        self.ln_f = nn.LayerNorm(cfg.n_embd)
        self.lm_head = nn.Linear(cfg.n_embd, cfg.vocab_size, bias=False)

    def forward(self, idx, targets=None):
        pos = torch.arange(idx.shape[1], device=idx.device)
        x = self.wte(idx) + self.wpe(pos)
        for block in self.blocks:
            x = block(x)
        logits = self.lm_head(self.ln_f(x))
        loss = None
        if targets is not None:
            loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.reshape(-1))
        return logits, loss

    @torch.no_grad()
    def generate(self, idx, n):
        for _ in range(n):
            logits, _ = self(idx[:, -self.cfg.block_size:])
            idx = torch.cat([idx, logits[:, -1].argmax(-1, keepdim=True)], dim=1)
        return idx


def closing_accuracy(model, rng, n=200):
    ok = 0
    model.eval()
    for _ in range(n):
        opened = [rng.choice(list(PAIRS)) for _ in range(4)]
        want = [stoi[PAIRS[c]] for c in reversed(opened)]
        out = model.generate(torch.tensor([[stoi[c] for c in opened]]), 4)[0, 4:].tolist()
        ok += out == want
    model.train()
    return ok / n


def main():
    torch.manual_seed(1337)
    rng = random.Random(1337)
    train = torch.tensor([random_string(rng) for _ in range(4000)])
    val = torch.tensor([random_string(rng) for _ in range(400)])
    model = GPT(GPTConfig())
    steps, base_lr, warmup = 350, 2e-3, 30
    opt = torch.optim.AdamW(model.parameters(), lr=base_lr, betas=(0.9, 0.95), weight_decay=0.05)
    for it in range(steps + 1):
        lr = base_lr * min(1, (it + 1) / warmup) * (0.1 + 0.45 * (1 + math.cos(math.pi * it / steps)))
        for group in opt.param_groups:
            group["lr"] = lr
        batch = train[torch.randint(len(train), (32,))]
        _, loss = model(batch[:, :-1], batch[:, 1:])
        opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        if it % 100 == 0:
            with torch.no_grad():
                _, vl = model(val[:, :-1], val[:, 1:])
            print(f"step {it:4d} | lr {lr:.2e} | train loss {loss.item():.4f} | val loss {vl.item():.4f}")
    print(f"sampled closings correct: {closing_accuracy(model, rng):.3f}")


if __name__ == "__main__":
    main()
