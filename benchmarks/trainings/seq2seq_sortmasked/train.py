"""Seq2seq: read a list of digits of variable length and write it sorted, without repetitions. GRU encoder, attention decoder,
teacher forcing with a share of the model's own outputs, masked attention and masked loss."""
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

random.seed(14)
torch.manual_seed(14)
PAD, BOS, EOS, OFFSET = 0, 1, 2, 3
VOCAB = OFFSET + 8


def example(avoid):
    src = None
    while src is None or tuple(src) in avoid:
        src = [random.randrange(8) for _ in range(random.randint(3, 7))]
    tgt = sorted(set(src))
    return torch.tensor([s + OFFSET for s in src]), torch.tensor([BOS] + [t + OFFSET for t in tgt] + [EOS])


def batch(n, avoid=frozenset()):
    src, tgt = zip(*(example(avoid) for _ in range(n)))
    lens = torch.tensor([len(s) for s in src])
    return pad_sequence(src, batch_first=True, padding_value=PAD), lens, pad_sequence(tgt, batch_first=True, padding_value=PAD)


class Encoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.rnn = nn.GRU(dim, dim // 2, batch_first=True, bidirectional=True)

    def forward(self, src, lens):
        packed = pack_padded_sequence(self.emb(src), lens, batch_first=True, enforce_sorted=False)
        out, h = self.rnn(packed)
        out, _ = pad_packed_sequence(out, batch_first=True, total_length=src.shape[1])
        return out, torch.cat([h[0], h[1]], -1)


class Decoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.cell = nn.GRUCell(2 * dim, dim)
        self.query = nn.Linear(dim, dim, bias=False)
        self.out = nn.Linear(2 * dim, VOCAB)

    def step(self, tok, state, memory, mask):
        score = torch.einsum("bd,btd->bt", self.query(state), memory) / memory.shape[-1] ** 0.5
        w = score.masked_fill(~mask, -1e9).softmax(-1)
        ctx = torch.einsum("bt,btd->bd", w, memory)
        state = self.cell(torch.cat([self.emb(tok), ctx], -1), state)
        return self.out(torch.cat([state, ctx], -1)), state


class Sorter(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.enc, self.dec = Encoder(dim), Decoder(dim)

    def forward(self, src, lens, tgt, own_share):
        memory, state = self.enc(src, lens)
        mask = src != PAD
        tok, logits = tgt[:, 0], []
        for t in range(1, tgt.shape[1]):
            o, state = self.dec.step(tok, state, memory, mask)
            logits.append(o)
            use_own = torch.rand(len(tok)) < own_share
            tok = torch.where(use_own, o.detach().argmax(-1), tgt[:, t])
        return torch.stack(logits, 1)

    @torch.no_grad()
    def write(self, src, lens, limit=10):
        memory, state = self.enc(src, lens)
        mask, tok, toks = src != PAD, torch.full((len(src),), BOS), []
        for _ in range(limit):
            o, state = self.dec.step(tok, state, memory, mask)
            tok = o.argmax(-1)
            toks.append(tok)
        return torch.stack(toks, 1)


def exact_match(model, src, lens, tgt):
    model.eval()
    out, good = model.write(src, lens), 0
    for o, t in zip(out.tolist(), tgt.tolist()):
        o = o[:o.index(EOS)] if EOS in o else o
        good += o == [v for v in t if v not in (PAD, BOS, EOS)]
    model.train()
    return good / len(src)


held_out = batch(400)
kept_back = {tuple(v - OFFSET for v in row if v != PAD) for row in held_out[0].tolist()}
model = Sorter()
opt = torch.optim.Adam(model.parameters(), lr=4e-3)
STEPS = 360
sched = torch.optim.lr_scheduler.OneCycleLR(opt, 6e-3, total_steps=STEPS, pct_start=0.1)
avg = 0.0
for step in range(1, STEPS + 1):
    src, lens, tgt = batch(64, avoid=kept_back)
    logits = model(src, lens, tgt, own_share=0.25 * step / STEPS)
    loss = F.cross_entropy(logits.flatten(0, 1), tgt[:, 1:].flatten(), ignore_index=PAD)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    sched.step()
    avg += loss.item()
    if step % 60 == 0:
        print(f"step {step:4d} loss {avg / 60:.4f} exact match {exact_match(model, *held_out):.3f}")
        avg = 0.0
