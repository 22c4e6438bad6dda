"""Arabic to Roman numerals with a GRU encoder-decoder; everything is time-major (time, batch)."""
import random

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

SEED = 90
random.seed(SEED)
torch.manual_seed(SEED)

PAD, BOS, EOS = 0, 1, 2
DIGITS = {c: i + 3 for i, c in enumerate("0123456789")}
LETTERS = {c: i + 3 for i, c in enumerate("IVXLCDM")}
TABLE = [(1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"),
         (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]


def roman(n):
    out = ""
    for value, sign in TABLE:
        while n >= value:
            out, n = out + sign, n - value
    return out


def pairs():
    numbers = list(range(1, 2000))
    random.shuffle(numbers)
    rows = []
    for n in numbers:
        src = torch.tensor([DIGITS[c] for c in str(n)] + [EOS])
        tgt = torch.tensor([BOS] + [LETTERS[c] for c in roman(n)] + [EOS])
        rows.append((src, tgt))
    return rows[:1600], rows[1600:]


def collate(rows):
    # packing wants the longest source first
    rows = sorted(rows, key=lambda r: -len(r[0]))
    src, tgt = zip(*rows)
    lengths = torch.tensor([len(s) for s in src])
    return pad_sequence(src, padding_value=PAD), lengths, pad_sequence(tgt, padding_value=PAD)


class Translator(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.src = nn.Embedding(13, 24, padding_idx=PAD)
        self.tgt = nn.Embedding(10, 24, padding_idx=PAD)
        self.encoder = nn.GRU(24, width, bidirectional=True)
        self.bridge = nn.Linear(2 * width, width)
        self.query = nn.Linear(width, 2 * width, bias=False)
        self.decoder = nn.GRUCell(24 + 2 * width, width)
        self.out = nn.Linear(width, 10)

    def encode(self, src, lengths):
        packed = pack_padded_sequence(self.src(src), lengths)
        memory, last = self.encoder(packed)
        memory, _ = nn.utils.rnn.pad_packed_sequence(memory)
        return memory, torch.tanh(self.bridge(torch.cat([last[0], last[1]], dim=1)))

    def step(self, token, state, memory, pad):
        score = (self.query(state)[None] * memory).sum(-1).masked_fill(pad, float("-inf"))
        context = (score.softmax(0)[..., None] * memory).sum(0)
        state = self.decoder(torch.cat([self.tgt(token), context], dim=1), state)
        return self.out(state), state

    def forward(self, src, lengths, tgt, own_words=0.0):
        memory, state = self.encode(src, lengths)
        pad = src == PAD
        token, logits = tgt[0], []
        for t in range(1, len(tgt)):
            out, state = self.step(token, state, memory, pad)
            logits.append(out)
            mixed = torch.rand(len(token)) < own_words
            token = torch.where(mixed, out.argmax(1), tgt[t])
        return torch.stack(logits)

    @torch.no_grad()
    def greedy(self, src, lengths, limit=17):
        memory, state = self.encode(src, lengths)
        token, words = torch.full((src.size(1),), BOS), []
        for _ in range(limit):
            out, state = self.step(token, state, memory, src == PAD)
            token = out.argmax(1)
            words.append(token)
        return torch.stack(words)


def exact(model, rows):
    model.eval()
    src, lengths, tgt = collate(rows)
    said = model.greedy(src, lengths)
    right = 0
    for b in range(src.size(1)):
        want = tgt[1:, b][tgt[1:, b] != PAD].tolist()
        right += said[:len(want), b].tolist() == want
    return right / src.size(1)


train, test = pairs()
model = Translator()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.93)
for epoch in range(1, 16):
    model.train()
    random.shuffle(train)
    total = count = 0
    for k in range(0, len(train), 50):
        src, lengths, tgt = collate(train[k:k + 50])
        logits = model(src, lengths, tgt, own_words=min(0.25, 0.02 * epoch))
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), tgt[1:].flatten(), ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total, count = total + loss.item(), count + 1
    scheduler.step()
    if epoch % 3 == 0:
        print(f"epoch {epoch:2d} loss {total / count:.4f} exact match on unseen numbers {exact(model, test):.3f}", flush=True)
