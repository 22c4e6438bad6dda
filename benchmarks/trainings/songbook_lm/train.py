"""Character model with shared input/output table, weights decayed selectively, one-cycle rate with a high peak."""
import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(77)
torch.manual_seed(77)

NAMES = ["anna", "boris", "clara", "dmitri", "elsa", "franz"]
ACTS = ["sings", "paints", "mends", "hides", "counts"]
THINGS = ["boats", "pears", "clocks", "kites", "letters", "stones"]
PLACES = {"boats": "harbor", "pears": "garden", "clocks": "tower", "kites": "meadow", "letters": "attic", "stones": "river"}


def line():
    thing = random.choice(THINGS)
    return f"{random.choice(NAMES)} {random.choice(ACTS)} {random.randint(10, 99)} {thing} by the {PLACES[thing]} with {random.choice(NAMES)}.\n"


text = "".join(line() for _ in range(1800))
alphabet = sorted(set(text))
stoi = {c: i for i, c in enumerate(alphabet)}
data = torch.tensor([stoi[c] for c in text])
cut = int(0.9 * len(data))
train_data, val_data = data[:cut], data[cut:]
CONTEXT, BATCH, STEPS = 48, 24, 240


def windows(source, n):
    starts = torch.randint(len(source) - CONTEXT - 1, (n,))
    block = torch.stack([source[s:s + CONTEXT + 1] for s in starts])
    return block[:, :-1], block[:, 1:]


class CausalMix(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm_a, self.norm_b = nn.RMSNorm(width), nn.RMSNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.back = nn.Linear(width, width, bias=False)
        self.up, self.down = nn.Linear(width, 3 * width), nn.Linear(3 * width, width)

    def forward(self, x):
        b, t, w = x.shape
        q, k, v = self.qkv(self.norm_a(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.back(y.transpose(1, 2).reshape(b, t, w))
        return x + self.down(F.gelu(self.up(self.norm_b(x))))


class CharLM(nn.Module):
    def __init__(self, vocab, width=64, heads=4, depth=2):
        super().__init__()
        self.table = nn.Embedding(vocab, width)
        nn.init.normal_(self.table.weight, std=0.02)
        self.place = nn.Parameter(torch.randn(CONTEXT, width) * 0.02)
        self.blocks = nn.ModuleList(CausalMix(width, heads) for _ in range(depth))
        self.norm = nn.RMSNorm(width)
        self.head = nn.Linear(width, vocab, bias=False)
        self.head.weight = self.table.weight

    def forward(self, ids):
        x = self.table(ids) + self.place[: ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


model = CharLM(len(alphabet))
matrices = [p for p in model.parameters() if p.ndim >= 2]
vectors = [p for p in model.parameters() if p.ndim < 2]
opt = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.05}, {"params": vectors, "weight_decay": 0.0}], lr=1e-3)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=8e-3, total_steps=STEPS, pct_start=0.15)

for step in range(1, STEPS + 1):
    x, y = windows(train_data, BATCH)
    loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
    opt.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    sched.step()
    if step % 40 == 0:
        with torch.no_grad():
            vx, vy = windows(val_data, 64)
            val = F.cross_entropy(model(vx).flatten(0, 1), vy.flatten()).item()
        print(f"step {step} train {loss.item():.3f} val {val:.3f} bits/char {val / math.log(2):.3f} "
              f"(uniform {math.log2(len(alphabet)):.2f}) lr {sched.get_last_lr()[0]:.5f}")

ids = torch.tensor([[stoi["c"]]])
with torch.no_grad():
    for _ in range(90):
        probs = model(ids[:, -CONTEXT:])[:, -1].div(0.5).softmax(-1)
        ids = torch.cat([ids, torch.multinomial(probs, 1)], dim=1)
print("".join(alphabet[i] for i in ids[0].tolist()))
