"""tiny_gpt.py -- character-level GPT on generated arithmetic text, tied embeddings, EMA weights for evaluation."""
import math
import random
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2024)
random.seed(2024)


@dataclass
class GPTConfig:
    block_size: int = 24
    n_layer: int = 2
    n_head: int = 4
    n_embd: int = 64
    max_lr: float = 6e-3
    warmup: int = 40
    steps: int = 360
    batch: int = 32


def make_text(n):
    lines = []
    for _ in range(n):
        a, b = random.randint(0, 9), random.randint(0, 9)
        lines.append(f"{a}+{b}={a + b};")
    return "".join(lines)


text = make_text(20000)
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])
split = int(0.95 * len(data))
splits = {"train": data[:split], "val": data[split:]}
cfg = GPTConfig()


def get_batch(which, size):
    d = splits[which]
    ix = torch.randint(len(d) - cfg.block_size - 1, (size,))
    x = torch.stack([d[i:i + cfg.block_size] for i in ix])
    y = torch.stack([d[i + 1:i + 1 + cfg.block_size] for i in ix])
    return x, y


class CausalSelfAttention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c_attn = nn.Linear(c.n_embd, 3 * c.n_embd, bias=False)
        self.c_proj = nn.Linear(c.n_embd, c.n_embd, bias=False)
        self.n_head = c.n_head

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(C, dim=2)
        q, k, v = (z.view(B, T, self.n_head, C // self.n_head).transpose(1, 2) for z in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).reshape(B, T, C))


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.ln_1 = nn.RMSNorm(c.n_embd)
        self.attn = CausalSelfAttention(c)
        self.ln_2 = nn.RMSNorm(c.n_embd)
        self.mlp = nn.Sequential(nn.Linear(c.n_embd, 4 * c.n_embd), nn.GELU(), nn.Linear(4 * c.n_embd, c.n_embd))

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, c, vocab):
        super().__init__()
        self.wte = nn.Embedding(vocab, c.n_embd)
        self.wpe = nn.Embedding(c.block_size, c.n_embd)
        self.h = nn.ModuleList(Block(c) for _ in range(c.n_layer))
        self.ln_f = nn.RMSNorm(c.n_embd)
        self.lm_head = nn.Linear(c.n_embd, vocab, bias=False)
        self.lm_head.weight = self.wte.weight
        self.apply(self._init)

    def _init(self, m):
        if isinstance(m, (nn.Linear, nn.Embedding)):
            nn.init.normal_(m.weight, std=0.02)
            if getattr(m, "bias", None) is not None:
                nn.init.zeros_(m.bias)

    def forward(self, idx, targets=None):
        x = self.wte(idx) + self.wpe.weight[: idx.size(1)]
        for blk in self.h:
            x = blk(x)
        logits = self.lm_head(self.ln_f(x))
        loss = None
        if targets is not None:
            loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        return logits, loss


def lr_at(step):
    if step < cfg.warmup:
        return cfg.max_lr * (step + 1) / cfg.warmup
    t = (step - cfg.warmup) / (cfg.steps - cfg.warmup)
    return cfg.max_lr * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * t)))


model = GPT(cfg, len(chars))
ema = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.97))
decay = [p for p in model.parameters() if p.dim() > 1]
rest = [p for p in model.parameters() if p.dim() <= 1]
opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}],
                        lr=cfg.max_lr, betas=(0.9, 0.95))
print(f"{sum(p.numel() for p in model.parameters())} parameters, uniform loss {math.log(len(chars)):.3f}")


@torch.no_grad()
def answers_right(net, n=60):
    """Greedy decoding of n sums."""
    hits = 0
    for _ in range(n):
        a, b = random.randint(0, 9), random.randint(0, 9)
        prompt = f";{a}+{b}="
        ids = [stoi[c] for c in prompt]
        while len(ids) < len(prompt) + 4 and chars[ids[-1]] != ";" or len(ids) == len(prompt):
            logits, _ = net(torch.tensor([ids]))
            ids.append(int(logits[0, -1].argmax()))
        hits += "".join(chars[i] for i in ids[len(prompt):]) == f"{a + b};"
    return hits / n


for step in range(cfg.steps):
    for group in opt.param_groups:
        group["lr"] = lr_at(step)
    xb, yb = get_batch("train", cfg.batch)
    _, loss = model(xb, yb)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    ema.update_parameters(model)
    if step % 60 == 0 or step == cfg.steps - 1:
        ema.eval()
        with torch.no_grad():
            val = sum(ema(*get_batch("val", 64))[1].item() for _ in range(4)) / 4
        print(f"step {step:4d} loss {loss.item():.4f} val(ema) {val:.4f} lr {lr_at(step):.5f} norm {norm:.2f}")
print(f"sums answered right: {answers_right(ema):.2f}")
