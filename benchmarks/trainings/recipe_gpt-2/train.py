"""Character-level GPT on generated kitchen instructions."""
import math
import random
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1337)
random.seed(1337)

VERBS = ["chop", "boil", "fry", "peel", "whisk", "grate", "rinse", "bake"]
ADJ = ["two", "ripe", "small", "fresh", "three", "cold"]
FOOD = ["onions", "carrots", "eggs", "leeks", "apples", "plums", "beans"]
UNIT = ["minutes", "seconds"]


def sentence():
    verb = random.choice(VERBS)
    txt = f"{verb} {random.choice(ADJ)} {random.choice(FOOD)}"
    if verb in ("boil", "fry", "bake"):
        txt += f" for {random.randint(2, 40)} {random.choice(UNIT)}"
    return txt + ".\n"


corpus = "".join(sentence() for _ in range(6000))
vocab = sorted(set(corpus))
stoi = {c: i for i, c in enumerate(vocab)}
ids = torch.tensor([stoi[c] for c in corpus])
cut = int(0.9 * len(ids))
train_ids, val_ids = ids[:cut], ids[cut:]
KNOWN = set(VERBS + ADJ + FOOD + UNIT + ["for"]) | {str(i) for i in range(2, 41)}


@dataclass
class GPTConfig:
    block: int = 48
    n_layer: int = 2
    n_head: int = 4
    n_embd: int = 64
    dropout: float = 0.0


class SelfAttention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.n_head = cfg.n_head
        self.qkv = nn.Linear(cfg.n_embd, 3 * cfg.n_embd)
        self.out = nn.Linear(cfg.n_embd, cfg.n_embd)
        allowed = torch.ones(cfg.block, cfg.block, dtype=torch.bool).tril(diagonal=1)
        self.register_buffer("allowed", allowed, persistent=False)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.n_head, C // self.n_head).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=self.allowed[:T, :T])
        return self.out(y.transpose(1, 2).reshape(B, T, C))


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
    def __init__(self, cfg, n_vocab):
        super().__init__()
        self.cfg = cfg
        self.tok = nn.Embedding(n_vocab, cfg.n_embd)
        self.pos = nn.Embedding(cfg.block, cfg.n_embd)
        self.blocks = nn.ModuleList(Block(cfg) for _ in range(cfg.n_layer))
        self.ln_f = nn.LayerNorm(cfg.n_embd)
        self.head = nn.Linear(cfg.n_embd, n_vocab, bias=False)

    def forward(self, idx, targets=None):
        x = self.tok(idx) + self.pos(torch.arange(idx.size(1)))
        for blk in self.blocks:
            x = blk(x)
        logits = self.head(self.ln_f(x))
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    @torch.no_grad()
    def generate(self, idx, n):
        for _ in range(n):
            logits, _ = self(idx[:, -self.cfg.block:])
            nxt = torch.multinomial(logits[:, -1].softmax(-1), 1)
            idx = torch.cat([idx, nxt], dim=1)
        return idx


def get_batch(src, cfg, bs=16):
    start = torch.randint(len(src) - cfg.block - 1, (bs,)).tolist()
    x = torch.stack([src[s:s + cfg.block] for s in start])
    y = torch.stack([src[s + 1:s + 1 + cfg.block] for s in start])
    return x, y


@torch.no_grad()
def val_loss(model, cfg):
    model.eval()
    out = sum(model(*get_batch(val_ids, cfg))[1].item() for _ in range(10)) / 10
    model.train()
    return out


cfg = GPTConfig()
model = GPT(cfg, len(vocab))
opt = torch.optim.AdamW(model.parameters(), lr=2e-3, betas=(0.9, 0.95), weight_decay=0.01)
STEPS = 360
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1, (s + 1) / 30) * (0.1 + 0.45 * (1 + math.cos(math.pi * s / STEPS))))
for step in range(1, STEPS + 1):
    xb, yb = get_batch(train_ids, cfg)
    _, loss = model(xb, yb)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    sched.step()
    if step % 100 == 0:
        print(f"step {step:4d} | train {loss.item():.4f} | val {val_loss(model, cfg):.4f}")

model.eval()
prompt = torch.full((12, 1), stoi["\n"])
texts = ["".join(vocab[i] for i in row) for row in model.generate(prompt, 80).tolist()]
words = [w for t in texts for w in t.replace(".", " ").split()[:-1]]
print(texts[0])
print(f"known words in samples: {sum(w in KNOWN for w in words) / max(1, len(words)):.1%}")
