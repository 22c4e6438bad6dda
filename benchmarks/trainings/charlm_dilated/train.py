"""Character language model on pseudo-English made of a small lexicon, with a gated dilated conv net."""
import math
import random
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 11
random.seed(SEED)
torch.manual_seed(SEED)

BLOCK = 64
BATCH = 32
STEPS = 360
CHANNELS = 48


def build_corpus(n_words=14000, lexicon=60):
    cons, vows = "bcdfgklmnprstvz", "aeiou"
    words = set()
    while len(words) < lexicon:
        w = "".join(random.choice(cons) + random.choice(vows) for _ in range(random.randint(1, 3)))
        words.add(w + random.choice(["", "n", "s", "r"]))
    words = sorted(words)
    follow = {w: random.sample(words, 6) for w in words}
    cur, out = words[0], []
    for _ in range(n_words):
        out.append(cur)
        cur = random.choice(follow[cur])
    return " ".join(out), set(words)


text, lexicon = build_corpus()
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
ids = torch.tensor([stoi[c] for c in text])
cut = int(0.9 * len(ids))
train_ids, val_ids = ids[:cut], ids[cut:]
print(f"corpus: {len(ids)} chars, vocab {len(chars)}, lexicon {len(lexicon)}")


class GatedConv(nn.Module):
    def __init__(self, ch, kernel, dilation):
        super().__init__()
        self.pad = (kernel - 1) * dilation
        self.conv = nn.Conv1d(ch, 2 * ch, kernel, dilation=dilation, padding=self.pad)
        self.proj = nn.Conv1d(ch, ch, 1)
        self.norm = nn.GroupNorm(1, ch) if ch < 16 else nn.Identity()

    def forward(self, x):
        h = self.conv(x)
        h = h[:, :, self.pad:]
        a, b = h.chunk(2, dim=1)
        return x + self.proj(self.norm(torch.tanh(a) * torch.sigmoid(b)))


class ConvLM(nn.Module):
    def __init__(self, vocab, ch):
        super().__init__()
        self.emb = nn.Embedding(vocab, ch)
        self.blocks = nn.ModuleList(GatedConv(ch, 3, d) for d in (1, 2, 4, 8))
        self.out = nn.Linear(ch, vocab)

    def forward(self, idx):
        h = self.emb(idx).transpose(1, 2)
        for blk in self.blocks:
            h = blk(h)
        return self.out(F.gelu(h.transpose(1, 2)))


def get_batch(source):
    at = torch.randint(0, len(source) - BLOCK - 1, (BATCH,)).tolist()
    x = torch.stack([source[i:i + BLOCK] for i in at])
    y = torch.stack([source[i + 1:i + BLOCK + 1] for i in at])
    return x, y


@torch.no_grad()
def validate(model, n=12):
    model.eval()
    total = 0.0
    for _ in range(n):
        x, y = get_batch(val_ids)
        total += F.cross_entropy(model(x).flatten(0, 1), y.flatten()).item()
    model.train()
    return total / n


@torch.no_grad()
def sample(model, length=400):
    model.eval()
    ctx = val_ids[:BLOCK][None].clone()
    for _ in range(length):
        logits = model(ctx[:, -BLOCK:])[:, -1]
        ctx = torch.cat([ctx, torch.multinomial(logits.softmax(-1), 1)], 1)
    model.train()
    return "".join(chars[i] for i in ctx[0, BLOCK:].tolist())


def main():
    model = ConvLM(len(chars), CHANNELS)
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=STEPS)
    start = time.time()
    running = 0.0
    for step in range(1, STEPS + 1):
        x, y = get_batch(train_ids)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
        running += loss.item()
        if step % 60 == 0:
            v = validate(model)
            print(f"step {step:4d} | train {running / 60:.3f} | val {v:.3f} | val ppl {math.exp(v):.2f} | {time.time() - start:.1f}s")
            running = 0.0
    generated = sample(model)
    got = generated.split()[1:-1]
    known = sum(w in lexicon for w in got) / max(1, len(got))
    print("sample:", generated[:120])
    print(f"generated words found in the lexicon: {known:.1%}")


if __name__ == "__main__":
    main()
