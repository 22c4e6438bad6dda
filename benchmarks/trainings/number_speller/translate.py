# GRU encoder-decoder with attention: spells a number given in digits ("407") as words ("four hundred seven").
# Sequences run time-first throughout, as torch's recurrent layers want them by default.
import random
import time

import torch
from torch import nn
import torch.nn.functional as F

rnd = random.Random(9)
torch.manual_seed(9)

ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen " \
       "sixteen seventeen eighteen nineteen".split()
TENS = "- - twenty thirty forty fifty sixty seventy eighty ninety".split()


def spell(n):
    if n < 20:
        return [ONES[n]]
    if n < 100:
        return [TENS[n // 10]] + ([ONES[n % 10]] if n % 10 else [])
    if n < 1000:
        return [ONES[n // 100], "hundred"] + (spell(n % 100) if n % 100 else [])
    return spell(n // 1000) + ["thousand"] + (spell(n % 1000) if n % 1000 else [])


PAD, BOS, EOS = 0, 1, 2
src_vocab = {c: i + 1 for i, c in enumerate("0123456789")}
words = ONES + TENS[2:] + ["hundred", "thousand"]
tgt_vocab = {w: i + 3 for i, w in enumerate(words)}
V = len(tgt_vocab) + 3

numbers = rnd.sample(range(100_000), 3400)
train_numbers, dev_numbers = numbers[:3000], numbers[3000:]


def batchify(nums):
    src = [[src_vocab[c] for c in str(n)] for n in nums]
    tgt = [[BOS] + [tgt_vocab[w] for w in spell(n)] + [EOS] for n in nums]
    s, t = max(map(len, src)), max(map(len, tgt))
    S = torch.full((s, len(nums)), PAD)
    T = torch.full((t, len(nums)), PAD)
    for j, (a, b) in enumerate(zip(src, tgt)):
        S[:len(a), j] = torch.tensor(a)
        T[:len(b), j] = torch.tensor(b)
    return S, torch.tensor([len(a) for a in src]), T


class Seq2Seq(nn.Module):
    def __init__(self, emb=32, hid=80):
        super().__init__()
        self.src_emb = nn.Embedding(len(src_vocab) + 1, emb, padding_idx=PAD)
        self.tgt_emb = nn.Embedding(V, emb, padding_idx=PAD)
        self.encoder = nn.GRU(emb, hid, bidirectional=True)
        self.decoder = nn.GRU(emb, hid)
        self.bridge = nn.Linear(2 * hid, hid)
        self.key = nn.Linear(2 * hid, hid, bias=False)
        self.out = nn.Linear(3 * hid, V)

    def encode(self, S, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(self.src_emb(S), lengths, enforce_sorted=False)
        states, last = self.encoder(packed)
        states, _ = nn.utils.rnn.pad_packed_sequence(states)
        return states, torch.tanh(self.bridge(torch.cat([last[0], last[1]], -1))).unsqueeze(0)

    def decode(self, prefix, hidden, memory, pad):
        out, hidden = self.decoder(self.tgt_emb(prefix), hidden)
        score = torch.einsum("tbh,sbh->bts", out, self.key(memory)) / out.size(-1) ** 0.5
        score = score.masked_fill(pad.t().unsqueeze(1), -1e9)
        ctx = torch.einsum("bts,sbh->tbh", score.softmax(-1), memory)
        return self.out(torch.cat([out, ctx], -1)), hidden

    def forward(self, S, lengths, prefix):
        memory, hidden = self.encode(S, lengths)
        return self.decode(prefix, hidden, memory, S == PAD)[0]

    @torch.no_grad()
    def greedy(self, S, lengths, limit=14):
        memory, hidden = self.encode(S, lengths)
        token = torch.full((1, S.size(1)), BOS)
        result = []
        for _ in range(limit):
            logits, hidden = self.decode(token, hidden, memory, S == PAD)
            token = logits.argmax(-1)
            result.append(token)
        return torch.cat(result)


def exact_match(model, nums):
    model.eval()
    S, lengths, T = batchify(nums)
    guess = model.greedy(S, lengths)
    hits = 0
    for j, n in enumerate(nums):
        ids = guess[:, j].tolist()
        ids = ids[:ids.index(EOS)] if EOS in ids else ids
        hits += ids == [tgt_vocab[w] for w in spell(n)]
    model.train()
    return hits / len(nums)


model = Seq2Seq()
opt = torch.optim.Adam(model.parameters(), lr=4e-3)
sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.85)
start = time.time()
for epoch in range(6):
    rnd.shuffle(train_numbers)
    total, count = 0.0, 0
    for i in range(0, len(train_numbers), 60):
        S, lengths, T = batchify(train_numbers[i:i + 60])
        logits = model(S, lengths, T[:-1])
        loss = F.cross_entropy(logits.flatten(0, 1), T[1:].flatten(), ignore_index=PAD, label_smoothing=0.05)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        opt.step()
        total, count = total + loss.item(), count + 1
    sched.step()
    print(f"epoch {epoch}: loss {total / count:.4f} exact match {exact_match(model, dev_numbers):.3f} "
          f"({time.time() - start:.0f}s)", flush=True)
