"""Character-level GPT that learns to write small additions such as `3+4=7;`."""
import math
import random
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class GPTConfig:
    vocab_size: int = 13
    block_size: int = 28
    n_layer: int = 2
    n_head: int = 4
    n_embd: int = 48


CHARS = "0123456789+=;"
STOI = {c: i for i, c in enumerate(CHARS)}
ITOS = dict(enumerate(CHARS))


def make_stream(n, rng):
    parts = []
    for _ in range(n):
        a, b = rng.randint(0, 4), rng.randint(0, 4)
        parts.append(f"{a}+{b}={a + b};")
    return torch.tensor([STOI[c] for c in "".join(parts)])


class Block(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.ln1 = nn.LayerNorm(cfg.n_embd)
        self.attn = nn.MultiheadAttention(cfg.n_embd, cfg.n_head, batch_first=True)
        self.ln2 = nn.LayerNorm(cfg.n_embd)
        self.mlp = nn.Sequential(
            nn.Linear(cfg.n_embd, 4 * cfg.n_embd), nn.GELU(), nn.Linear(4 * cfg.n_embd, cfg.n_embd)
        )
        blocked = torch.triu(torch.ones(cfg.block_size, cfg.block_size), diagonal=2).bool()
        self.register_buffer("blocked", blocked, persistent=False)

    def forward(self, x):
        t = x.size(1)
        h = self.ln1(x)
        h, _ = self.attn(h, h, h, attn_mask=self.blocked[:t, :t], need_weights=False)
        x = x + h
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.tok = nn.Embedding(cfg.vocab_size, cfg.n_embd)
        self.pos = nn.Embedding(cfg.block_size, cfg.n_embd)
        self.blocks = nn.ModuleList([Block(cfg) for _ in range(cfg.n_layer)])
        self.ln_f = nn.LayerNorm(cfg.n_embd)
        self.head = nn.Linear(cfg.n_embd, cfg.vocab_size, bias=False)

    def forward(self, idx, targets=None):
        x = self.tok(idx) + self.pos(torch.arange(idx.size(1), device=idx.device))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.ln_f(x))
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    @torch.no_grad()
    def generate(self, idx, stop, limit=4):
        for _ in range(limit):
            logits, _ = self(idx[:, -self.cfg.block_size:])
            nxt = logits[:, -1].argmax(-1, keepdim=True)
            idx = torch.cat([idx, nxt], dim=1)
            if nxt.item() == stop:
                break
        return idx


def get_batch(stream, cfg, batch_size=32):
    ix = torch.randint(len(stream) - cfg.block_size - 1, (batch_size,)).tolist()
    x = torch.stack([stream[i:i + cfg.block_size] for i in ix])
    y = torch.stack([stream[i + 1:i + 1 + cfg.block_size] for i in ix])
    return x, y


@torch.no_grad()
def val_loss(model, stream, cfg, n=4):
    model.eval()
    loss = sum(model(*get_batch(stream, cfg))[1].item() for _ in range(n)) / n
    model.train()
    return loss


def solve_rate(model, rng, n=60):
    model.eval()
    good = 0
    for _ in range(n):
        a, b = rng.randint(0, 4), rng.randint(0, 4)
        prompt = f"3+4=7;2+1=3;4+4=8;{a}+{b}="
        out = model.generate(torch.tensor([[STOI[c] for c in prompt]]), STOI[";"])
        text = "".join(ITOS[i] for i in out[0].tolist())[len(prompt):]
        good += text == f"{a + b};"
    return good / n


def main():
    torch.manual_seed(1337)
    rng = random.Random(1337)
    cfg = GPTConfig()
    train_stream, val_stream = make_stream(6000, rng), make_stream(600, rng)
    model = GPT(cfg)
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95), weight_decay=0.01)
    steps, warmup = 300, 20
    for step in range(steps):
        lr = 3e-3 * min(1.0, (step + 1) / warmup) * (0.1 + 0.45 * (1 + math.cos(math.pi * step / steps)))
        for group in opt.param_groups:
            group["lr"] = lr
        _, loss = model(*get_batch(train_stream, cfg))
        opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        if step % 50 == 0 or step == steps - 1:
            print(f"step {step:4d} | train {loss.item():.4f} | val {val_loss(model, val_stream, cfg):.4f}")
    print(f"sums solved when generating: {solve_rate(model, rng):.2%}")


if __name__ == "__main__":
    main()
