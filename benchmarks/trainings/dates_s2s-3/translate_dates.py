"""Translate written dates ("7 mar 1994") to ISO form with a GRU encoder-decoder and attention."""
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
PAD, SOS, EOS = 0, 1, 2
ALPHABET = sorted(set("0123456789- " + "".join(MONTHS)))
stoi = {c: i + 3 for i, c in enumerate(ALPHABET)}
itos = {i: c for c, i in stoi.items()}


def encode(text):
    return [stoi[c] for c in text]


def make_pairs(n, rng):
    pairs = []
    for _ in range(n):
        d, m, y = rng.randint(1, 28), rng.randint(1, 12), rng.randint(1950, 2049)
        src = rng.choice([f"{d} {MONTHS[m - 1]} {y}", f"{MONTHS[m - 1]} {d} {y}"])
        tgt = f"{y}-{m:02d}-{d:02d}"
        pairs.append((torch.tensor(encode(src)), torch.tensor([SOS] + encode(tgt) + [EOS])))
    return pairs


def collate(pairs):
    src, tgt = zip(*pairs)
    return pad_sequence(src, batch_first=True, padding_value=PAD), pad_sequence(tgt, batch_first=True, padding_value=PAD)


class Seq2Seq(nn.Module):
    def __init__(self, vocab, emb=32, hidden=64):
        super().__init__()
        self.src_emb = nn.Embedding(vocab, emb, padding_idx=PAD)
        self.tgt_emb = nn.Embedding(vocab, emb, padding_idx=PAD)
        self.encoder = nn.GRU(emb, hidden, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(2 * hidden, hidden)
        self.decoder = nn.GRU(emb, hidden, batch_first=True)
        self.query = nn.Linear(hidden, 2 * hidden)
        self.out = nn.Linear(3 * hidden, vocab)

    def encode(self, src):
        memory, h = self.encoder(self.src_emb(src))
        h = torch.tanh(self.bridge(torch.cat([h[0], h[1]], dim=-1))).unsqueeze(0)
        return memory, h, src == PAD

    def decode(self, tokens, memory, h, pad_mask):
        states, h = self.decoder(self.tgt_emb(tokens), h)
        scores = self.query(states) @ memory.transpose(1, 2)
        scores = scores.masked_fill(pad_mask[:, None], float("-inf"))
        context = scores.softmax(-1) @ memory
        return self.out(torch.cat([states, context], dim=-1)), h

    def forward(self, src, tgt):
        memory, h, mask = self.encode(src)
        logits, _ = self.decode(tgt, memory, h, mask)
        return logits

    @torch.no_grad()
    def greedy(self, src, max_len=12):
        memory, h, mask = self.encode(src)
        token = torch.full((len(src), 1), SOS)
        out = []
        for _ in range(max_len):
            logits, h = self.decode(token, memory, h, mask)
            token = logits.argmax(-1)
            out.append(token)
        return torch.cat(out, dim=1)


def exact_match(model, pairs):
    model.eval()
    src, tgt = collate(pairs)
    pred = model.greedy(src, max_len=tgt.shape[1] - 1)
    ok = (pred[:, :10] == tgt[:, 1:11]).all(dim=1)
    model.train()
    return ok.float().mean().item(), "".join(itos.get(i, "?") for i in pred[0, :10].tolist())


def main():
    rng = random.Random(25)
    torch.manual_seed(25)
    train, val = make_pairs(2500, rng), make_pairs(200, rng)
    model = Seq2Seq(len(stoi) + 3)
    opt = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(8):
        rng.shuffle(train)
        total = steps = 0
        for i in range(0, len(train), 50):
            src, tgt = collate(train[i:i + 50])
            logits = model(src, tgt[:, 1:])
            loss = F.cross_entropy(logits.flatten(0, 1), tgt[:, 1:].flatten(), ignore_index=PAD)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            total, steps = total + loss.item(), steps + 1
        em, example = exact_match(model, val)
        print(f"epoch {epoch} loss {total / steps:.4f} val exact match {em:.3f} e.g. {example}")


if __name__ == "__main__":
    main()
