"""Sequence tagging: mark every token with its role in a generated command language (BiLSTM)."""
import random
from dataclasses import dataclass

import torch
import torch.nn as nn
from torch.utils.data import DataLoader

ROLES = ["pad", "verb", "object", "number", "unit", "glue", "place"]
WORDS = {
    "verb": "set move raise lower open close start stop".split(),
    "object": "valve pump arm fan lamp door belt crane".split(),
    "number": [str(i) for i in range(2, 30)],
    "unit": "mm cm degrees percent seconds volts".split(),
    "glue": "the to by a then and for please".split(),
    "place": "north south bay hall yard roof".split(),
}
AMBIGUOUS = {"lower": ("verb", "place"), "open": ("verb", "place"), "fan": ("object", "unit")}


@dataclass
class C:
    max_len: int = 20
    emb: int = 24
    hid: int = 32
    epochs: int = 6
    bs: int = 32
    lr: float = 5e-3


def sentence(rng):
    toks = []
    for _ in range(rng.randint(1, 3)):
        toks += [(rng.choice(WORDS["verb"]), "verb"), ("the", "glue")]
        if rng.random() < 0.3:
            toks.append((rng.choice(["lower", "open"] + WORDS["place"]), "place"))
        toks.append((rng.choice(WORDS["object"]), "object"))
        if rng.random() < 0.6:
            toks += [(rng.choice(["to", "by"]), "glue"), (rng.choice(WORDS["number"]), "number"),
                     (rng.choice(WORDS["unit"] + ["fan"]), "unit")]
        toks.append(("then", "glue"))
    return toks[:-1]


VOCAB = {w: i + 1 for i, w in enumerate(sorted({w for v in WORDS.values() for w in v}))}


def encode(sents, max_len):
    x = torch.zeros(len(sents), max_len, dtype=torch.long)
    y = torch.zeros(len(sents), max_len, dtype=torch.long)
    for i, s in enumerate(sents):
        for j, (w, r) in enumerate(s[:max_len]):
            x[i, j], y[i, j] = VOCAB[w], ROLES.index(r)
    return x, y


class Tagger(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.emb = nn.Embedding(len(VOCAB) + 1, c.emb, padding_idx=0)
        self.rnn = nn.LSTM(c.emb, c.hid, batch_first=True, bidirectional=True)
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(2 * c.hid, len(ROLES))

    def forward(self, x):
        h, _ = self.rnn(self.emb(x))
        return self.out(self.drop(h))


def token_loss(logits, tags):
    """Cross entropy over the real tokens; torch wants (batch, classes, length)."""
    b, t, k = logits.shape
    return nn.functional.cross_entropy(logits.reshape(b, k, t), tags, ignore_index=0)


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        pred = model(x)[..., 1:].argmax(-1) + 1
    keep = y > 0
    return (pred[keep] == y[keep]).float().mean().item()


def main(c=C()):
    torch.manual_seed(0)
    rng = random.Random(0)
    x, y = encode([sentence(rng) for _ in range(1500)], c.max_len)
    xv, yv = encode([sentence(rng) for _ in range(300)], c.max_len)
    model = Tagger(c)
    opt = torch.optim.Adam(model.parameters(), lr=c.lr)
    for ep in range(c.epochs):
        model.train()
        tot = n = 0
        for idx in DataLoader(range(len(x)), c.bs, shuffle=True):
            loss = token_loss(model(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            opt.step()
            tot, n = tot + loss.item(), n + 1
        print(f"epoch {ep + 1} loss {tot / n:.4f} token acc train {accuracy(model, x, y):.3f} val {accuracy(model, xv, yv):.3f}")


if __name__ == "__main__":
    main()
