"""Sequence-to-sequence GRU with attention: turns spoken dates into ISO form.

Variable-length inputs are padded and masked; the decoder is trained with label smoothing.
"""
import datetime as dt
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

random.seed(3)
torch.manual_seed(3)
PAD, BOS, EOS = 0, 1, 2
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
FORMS = ["{d} {m} {y}", "{m} {d}, {y}", "the {d}. of {m} {y}", "{y}/{n}/{d}", "{d}.{n}.{y}"]


def sample_pair():
    day = dt.date(1970, 1, 1) + dt.timedelta(days=random.randrange(20000))
    src = random.choice(FORMS).format(d=day.day, m=MONTHS[day.month - 1], n=day.month, y=day.year)
    return src, day.isoformat()


pairs = list({sample_pair() for _ in range(4200)})
pairs.sort()
random.shuffle(pairs)
src_chars = sorted({c for s, _ in pairs for c in s})
tgt_chars = sorted({c for _, t in pairs for c in t})
S = {c: i + 3 for i, c in enumerate(src_chars)}
T = {c: i + 3 for i, c in enumerate(tgt_chars)}
encoded = [(torch.tensor([S[c] for c in s]), torch.tensor([BOS] + [T[c] for c in t] + [EOS])) for s, t in pairs]
train, valid = encoded[:-500], encoded[-500:]


def collate(rows):
    src, tgt = zip(*rows)
    lengths = torch.tensor([len(s) for s in src])
    return pad_sequence(src, True, PAD), lengths, pad_sequence(tgt, True, PAD)


class Translator(nn.Module):
    def __init__(self, n_src, n_tgt, dim=64):
        super().__init__()
        self.src_emb = nn.Embedding(n_src, 32, padding_idx=PAD)
        self.tgt_emb = nn.Embedding(n_tgt, 32, padding_idx=PAD)
        self.encoder = nn.GRU(32, dim // 2, batch_first=True, bidirectional=True)
        self.decoder = nn.GRU(32, dim, batch_first=True)
        self.query = nn.Linear(dim, dim, bias=False)
        self.readout = nn.Sequential(nn.Linear(2 * dim, dim), nn.Tanh(), nn.Linear(dim, n_tgt))

    def encode(self, src, lengths):
        packed = pack_padded_sequence(self.src_emb(src), lengths, batch_first=True, enforce_sorted=False)
        memory, h = self.encoder(packed)
        memory, _ = pad_packed_sequence(memory, batch_first=True, total_length=src.size(1))
        return memory, torch.cat([h[0], h[1]], dim=-1).unsqueeze(0), src.eq(PAD)

    def decode(self, tokens, h, memory, pad_mask):
        out, h = self.decoder(self.tgt_emb(tokens), h)
        score = torch.bmm(self.query(out), memory.transpose(1, 2)).masked_fill(pad_mask[:, None], float("-inf"))
        context = torch.bmm(score.softmax(-1), memory)
        return self.readout(torch.cat([out, context], -1)), h

    def forward(self, src, lengths, tgt_in):
        memory, h, mask = self.encode(src, lengths)
        return self.decode(tgt_in, h, memory, mask)[0]

    @torch.no_grad()
    def greedy(self, src, lengths, max_len=12):
        memory, h, mask = self.encode(src, lengths)
        token, seq = torch.full((src.size(0), 1), BOS), []
        for _ in range(max_len):
            logit, h = self.decode(token, h, memory, mask)
            token = logit.argmax(-1)
            seq.append(token)
        return torch.cat(seq, 1)


model = Translator(len(S) + 3, len(T) + 3)
optim = torch.optim.Adam(model.parameters(), lr=6e-3)
EPOCHS, BS = 6, 64
sched = torch.optim.lr_scheduler.LinearLR(optim, 1.0, 0.05, total_iters=EPOCHS * (len(train) // BS))
for epoch in range(EPOCHS):
    model.train()
    random.shuffle(train)
    total, n = 0.0, 0
    for i in range(0, len(train) - BS + 1, BS):
        src, lengths, tgt = collate(train[i:i + BS])
        logits = model(src, lengths, tgt[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tgt[:, 1:].flatten(), ignore_index=PAD, label_smoothing=0.1)
        optim.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optim.step()
        sched.step()
        total, n = total + loss.item(), n + 1
    model.eval()
    src, lengths, tgt = collate(valid)
    guess = model.greedy(src, lengths, tgt.size(1) - 1)
    exact = (guess == tgt[:, 1:]).all(1).float().mean().item()
    chars = (guess == tgt[:, 1:]).float().mean().item()
    print(f"epoch {epoch + 1}: smoothed loss {total / n:.3f}  valid char acc {chars:.3f}  exact match {exact:.3f}")
