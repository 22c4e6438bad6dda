"""Decoder-only transformer that learns to sort short digit strings."""

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass
class ModelConfig:
    vocab: int = 11
    length: int = 6
    dim: int = 48
    heads: int = 4
    layers: int = 2

    @property
    def context(self):
        return 2 * self.length


def make_batch(cfg, n, generator):
    digits = torch.randint(0, 10, (n, cfg.length), generator=generator)
    ordered, _ = digits.sort(dim=1)
    sep = torch.full((n, 1), 10)
    seq = torch.cat([digits, sep, ordered], dim=1)
    x, y = seq[:, :-1], seq[:, 1:].clone()
    y[:, : cfg.length] = -1
    return x, y


class Attention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.heads = cfg.heads
        self.to_qkv = nn.Linear(cfg.dim, 3 * cfg.dim)
        self.to_out = nn.Linear(cfg.dim, cfg.dim)
        self.register_buffer("future", torch.triu(torch.ones(cfg.context, cfg.context, dtype=torch.bool), 1))

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.to_qkv(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        scores = torch.einsum("bhqd,bhkd->bhqk", q, k) * (d // self.heads) ** -0.5
        scores = scores.masked_fill(self.future[:t, :t], float("-inf"))
        weights = scores.softmax(dim=-1)
        mixed = torch.einsum("bhqk,bhkd->bhqd", weights, v)
        return self.to_out(mixed.transpose(1, 2).reshape(b, t, d))


class Layer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(cfg.dim), nn.LayerNorm(cfg.dim)
        self.attn = Attention(cfg)
        self.ff = nn.Sequential(nn.Linear(cfg.dim, 4 * cfg.dim), nn.GELU(), nn.Linear(4 * cfg.dim, cfg.dim))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.ff(self.norm2(x))


class Sorter(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.tok = nn.Embedding(cfg.vocab, cfg.dim)
        self.pos = nn.Parameter(torch.randn(cfg.context, cfg.dim) * 0.02)
        self.layers = nn.ModuleList(Layer(cfg) for _ in range(cfg.layers))
        self.norm = nn.LayerNorm(cfg.dim)
        self.head = nn.Linear(cfg.dim, cfg.vocab)

    def forward(self, idx, targets=None):
        x = self.tok(idx) + self.pos[: idx.shape[1]]
        for layer in self.layers:
            x = layer(x)
        logits = self.head(self.norm(x))
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-1)


@torch.no_grad()
def exact_match(model, cfg, generator, n=256):
    model.eval()
    x, y = make_batch(cfg, n, generator)
    pred = model(x)[0].argmax(-1)
    model.train()
    keep = y != -1
    return ((pred == y) | ~keep).all(dim=1).float().mean().item()


def main(steps=150):
    torch.manual_seed(21)
    gen = torch.Generator().manual_seed(22)
    cfg = ModelConfig()
    model = Sorter(cfg)
    optim = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
    for step in range(1, steps + 1):
        _, loss = model(*make_batch(cfg, 48, gen))
        optim.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optim.step()
        if step % 25 == 0:
            print(f"step {step:4d} loss {loss.item():.4f} sorted exactly {exact_match(model, cfg, gen):.3f}")


if __name__ == "__main__":
    main()
