"""GPT on nested brackets: tied embedding, residual outputs started small, decay on matrices only, warm-up and cosine."""

import math
import random

import torch
import torch.nn.functional as F
from torch import nn

random.seed(53)
torch.manual_seed(53)
OPEN, CLOSE, END, LENGTH = "([{<", ")]}>", 8, 32
PAIRS = {i: i + 4 for i in range(4)}


def nested():
    """Open at random while there is room, close what is open: half of the tokens cannot be known."""
    out, stack = [], []
    while len(out) < LENGTH:
        room = LENGTH - len(out)
        if stack and (len(stack) >= room or random.random() < 0.5):
            out.append(PAIRS[stack.pop()])
        elif len(stack) < room - 1:
            stack.append(random.randrange(4))
            out.append(stack[-1])
    return [END, *out]


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.proj = nn.Linear(width, width, bias=False)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (part.view(b, t, self.heads, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        return self.proj(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, c))


class GPT(nn.Module):
    def __init__(self, vocab=9, width=64, heads=4, layers=3):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab, width), nn.Embedding(LENGTH, width)
        self.attention = nn.ModuleList(Attention(width, heads) for _ in range(layers))
        self.mlp = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)) for _ in range(layers)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2 * layers + 1))
        self.head = nn.Linear(width, vocab, bias=False)
        self.head.weight = self.wte.weight
        for name, p in self.named_parameters():
            if p.dim() == 2:
                nn.init.normal_(p, std=0.02 / (math.sqrt(2 * layers) if name.endswith(("proj.weight", "2.weight")) else 1))

    def forward(self, ids):
        x = self.wte(ids) + self.wpe.weight[: ids.shape[1]]
        for i, (attention, mlp) in enumerate(zip(self.attention, self.mlp)):
            x = x + attention(self.norms[2 * i](x))
            x = x + mlp(self.norms[2 * i + 1](x))
        return self.head(self.norms[-1](x))


model = GPT()
decay = [p for p in model.parameters() if p.dim() >= 2]
rest = [p for p in model.parameters() if p.dim() < 2]
optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}], lr=1.0)
STEPS, TOP, WARM = 300, 3e-3, 30
schedule = torch.optim.lr_scheduler.LambdaLR(  # the factor is the learning rate itself, as lr=1 above
    optimizer, lambda s: TOP * min((s + 1) / WARM, 0.05 + 0.475 * (1 + math.cos(math.pi * s / STEPS)))
)
test = torch.tensor([nested() for _ in range(200)])
for step in range(1, STEPS + 1):
    rows = torch.tensor([nested() for _ in range(24)])
    logits = model(rows[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    if step % 60 == 0:
        model.eval()
        with torch.no_grad():
            logits = model(test[:, :-1])
        closing = test[:, 1:] >= 4
        right = (logits[..., 4:8].argmax(-1) + 4 == test[:, 1:])[closing].float().mean().item()
        # About 1 nat is left: which bracket opens, and whether one does, is chance.
        print(f"step {step} lr {schedule.get_last_lr()[0]:.5f} loss {loss.item():.3f} right kind of closing bracket {right:.3f}")
        model.train()
