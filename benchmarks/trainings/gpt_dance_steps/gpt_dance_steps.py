"""A small GPT of dance figures: learn which figure follows, then let it write dances of its own."""

import math
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class GPTConfig:
    vocab: int = 20
    context: int = 24
    width: int = 48
    heads: int = 4
    layers: int = 2
    lr: float = 3e-3
    steps: int = 300
    batch: int = 32


class Dances:
    """Each figure is followed by one of three, with chances 0.6, 0.3 and 0.1."""

    def __init__(self, cfg, seed=29):
        g = torch.Generator().manual_seed(seed)
        self.cfg, self.g = cfg, g
        self.follow = torch.stack([torch.randperm(cfg.vocab, generator=g)[:3] for _ in range(cfg.vocab)])
        self.chance = torch.tensor([0.6, 0.3, 0.1])

    def sample(self, n):
        figure = torch.randint(0, self.cfg.vocab, (n,), generator=self.g)
        rows = [figure]
        for _ in range(self.cfg.context):
            pick = torch.multinomial(self.chance.expand(n, 3), 1, generator=self.g)
            rows.append(self.follow[rows[-1]].gather(1, pick).squeeze(1))
        return torch.stack(rows, dim=1)

    @property
    def floor(self):
        return -(self.chance * self.chance.log()).sum().item()

    def legal(self, rows):
        return (self.follow[rows[:, :-1]] == rows[:, 1:, None]).any(-1).float().mean().item()


class Block(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.heads = cfg.heads
        self.ln1, self.ln2 = nn.LayerNorm(cfg.width), nn.LayerNorm(cfg.width)
        self.qkv = nn.Linear(cfg.width, 3 * cfg.width)
        self.proj = nn.Linear(cfg.width, cfg.width)
        self.mlp = nn.Sequential(nn.Linear(cfg.width, 4 * cfg.width), nn.GELU(), nn.Linear(4 * cfg.width, cfg.width))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v)
        x = x + self.proj(y.transpose(1, 2).reshape(b, t, c))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.tok, self.pos = nn.Embedding(cfg.vocab, cfg.width), nn.Embedding(cfg.context, cfg.width)
        self.blocks = nn.Sequential(*(Block(cfg) for _ in range(cfg.layers)))
        self.ln = nn.LayerNorm(cfg.width)
        self.head = nn.Linear(cfg.width, cfg.vocab, bias=False)

    def forward(self, ids, targets=None):
        x = self.tok(ids) + self.pos(torch.arange(ids.shape[1]))
        logits = self.head(self.ln(self.blocks(x)))
        loss = None if targets is None else F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        return logits, loss

    @torch.no_grad()
    def generate(self, ids, n):
        for _ in range(n):
            logits, _ = self(ids[:, -self.cfg.context :])
            ids = torch.cat([ids, torch.multinomial(logits[:, -1].softmax(-1), 1)], dim=1)
        return ids


cfg = GPTConfig()
torch.manual_seed(29)
dances = Dances(cfg)
model = GPT(cfg)
optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr, betas=(0.9, 0.95), weight_decay=0.1)
for step in range(1, cfg.steps + 1):
    lr = cfg.lr * min(step / 30, 0.1 + 0.45 * (1 + math.cos(math.pi * step / cfg.steps)))
    for group in optimizer.param_groups:
        group["lr"] = lr
    rows = dances.sample(cfg.batch)
    _, loss = model(rows[:, :-1], rows[:, 1:])
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 60 == 0:
        print(f"step {step} lr {lr:.4f} loss {loss.item():.4f} (entropy of the dances {dances.floor:.4f})")
model.eval()
made = model.generate(torch.randint(0, cfg.vocab, (64, 1)), cfg.context - 1)
print(f"legal steps in generated dances {dances.legal(made):.3f}")
