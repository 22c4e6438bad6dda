"""Tiny GPT for melodies: tied embeddings, warm-up and cosine, decay only on matrices."""
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

BLOCK, VOCAB, DIM, HEADS, LAYERS = 24, 24, 48, 4, 2
STEPS, WARMUP, MAX_LR, MIN_LR = 400, 40, 3e-3, 3e-4


def melodies(n, seed):
    """A melody repeats a four-note motif, each time moved up by a step chosen once per melody."""
    rng = np.random.default_rng(seed)
    motif = rng.integers(0, VOCAB, (n, 1, 4))
    shift = rng.integers(1, 5, (n, 1, 1)) * np.arange(7)[None, :, None]
    notes = (motif + shift).reshape(n, -1) % VOCAB
    return torch.from_numpy(notes[:, : BLOCK + 1])


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.qkv, self.proj = nn.Linear(DIM, 3 * DIM), nn.Linear(DIM, DIM)
        self.up, self.down = nn.Linear(DIM, 4 * DIM), nn.Linear(4 * DIM, DIM)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, HEADS, DIM // HEADS).permute(2, 0, 3, 1, 4)
        att = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(att.transpose(1, 2).reshape(b, t, DIM))
        return x + self.down(F.gelu(self.up(self.n2(x))))


class MotifGPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.pos = nn.Embedding(VOCAB, DIM), nn.Embedding(BLOCK, DIM)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(DIM)
        self.head = nn.Linear(DIM, VOCAB, bias=False)
        self.apply(self._init)
        self.head.weight = self.tok.weight

    @staticmethod
    def _init(m):
        if isinstance(m, (nn.Linear, nn.Embedding)):
            nn.init.normal_(m.weight, std=0.05)
            if getattr(m, "bias", None) is not None:
                nn.init.zeros_(m.bias)

    def forward(self, idx):
        x = self.tok(idx) + self.pos(torch.arange(idx.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def lr_at(step):
    if step < WARMUP:
        return MAX_LR * (step + 1) / WARMUP
    ratio = (step - WARMUP) / (STEPS - WARMUP)
    return MIN_LR + 0.5 * (1 + math.cos(math.pi * ratio)) * (MAX_LR - MIN_LR)


@torch.no_grad()
def evaluate(model, data):
    model.eval()
    logits = model(data[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), data[:, 1:].flatten()).item()
    tail = (logits[:, 10:].argmax(-1) == data[:, 11:]).float().mean().item()
    model.train()
    return loss, tail


def main():
    torch.manual_seed(5)
    train, val = melodies(4000, 0), melodies(300, 1)
    model = MotifGPT()
    decay = [p for p in model.parameters() if p.dim() >= 2]
    rest = [p for p in model.parameters() if p.dim() < 2]
    opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}], betas=(0.9, 0.95))
    for step in range(STEPS):
        for g in opt.param_groups:
            g["lr"] = lr_at(step)
        batch = train[torch.randint(len(train), (32,))]
        loss = F.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        if step % 80 == 79:
            val_loss, tail = evaluate(model, val)
            print(f"step {step + 1} train {loss.item():.4f} val {val_loss:.4f} accuracy once the motif is known {tail:.3f}")


if __name__ == "__main__":
    main()
