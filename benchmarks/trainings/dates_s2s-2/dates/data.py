"""Long dates ("14 march 1987") to ISO ("1987-03-14")."""
import random

import torch

MONTHS = "january february march april may june july august september october november december".split()
PAD, BOS, EOS = 0, 1, 2
CHARS = sorted(set("".join(MONTHS)) | set("0123456789 -,"))
STOI = {c: i + 3 for i, c in enumerate(CHARS)}
ITOS = {i: c for c, i in STOI.items()}
VOCAB = len(CHARS) + 3


def pair(rng):
    y, m, d = rng.randint(1950, 2029), rng.randint(1, 12), rng.randint(1, 28)
    src = rng.choice([f"{d} {MONTHS[m - 1]} {y}", f"{MONTHS[m - 1]} {d}, {y}"])
    return src, f"{y}-{m:02d}-{d:02d}"


def encode(text, size):
    ids = [STOI[c] for c in text]
    return ids + [PAD] * (size - len(ids))


def batch_of(pairs):
    width = max(len(s) for s, _ in pairs)
    src = torch.tensor([encode(s, width) for s, _ in pairs])
    tgt = torch.tensor([[BOS] + encode(t, len(t)) + [EOS] for _, t in pairs])
    return src, tgt


def make(n, seed):
    rng = random.Random(seed)
    return [pair(rng) for _ in range(n)]
