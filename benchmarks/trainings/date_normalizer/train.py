"""GRU encoder-decoder with attention: written numbers ('three hundred five') -> digits. Variable lengths, packed and masked."""
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

random.seed(31)
torch.manual_seed(31)

ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
WORDS = ["<pad>"] + ONES + TENS + ["hundred", "thousand", "and"]
W2I = {w: i for i, w in enumerate(WORDS)}
BOS, EOS, TGT_VOCAB = 10, 11, 12
IGNORE = -1


def spell(n):
    if n < 20:
        return [ONES[n]]
    if n < 100:
        return [TENS[n // 10 - 2]] + ([ONES[n % 10]] if n % 10 else [])
    if n < 1000:
        rest = spell(n % 100) if n % 100 else []
        return [ONES[n // 100], "hundred"] + (["and"] if rest and random.random() < 0.5 else []) + rest
    return spell(n // 1000) + ["thousand"] + (spell(n % 1000) if n % 1000 else [])


def encode(n):
    return torch.tensor([W2I[w] for w in spell(n)]), torch.tensor([int(c) for c in str(n)])


def collate(numbers):
    src, tgt = zip(*(encode(n) for n in numbers))
    lengths = torch.tensor([len(s) for s in src])
    dec_in = pad_sequence([torch.cat([torch.tensor([BOS]), t]) for t in tgt], batch_first=True, padding_value=EOS)
    dec_out = pad_sequence([torch.cat([t, torch.tensor([EOS])]) for t in tgt], batch_first=True, padding_value=IGNORE)
    return pad_sequence(src, batch_first=True), lengths, dec_in, dec_out


class Seq2Seq(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.src_emb = nn.Embedding(len(WORDS), width, padding_idx=0)
        self.tgt_emb = nn.Embedding(TGT_VOCAB, width)
        self.enc = nn.GRU(width, width // 2, batch_first=True, bidirectional=True)
        self.dec = nn.GRU(width, width, batch_first=True)
        self.query = nn.Linear(width, width, bias=False)
        self.out = nn.Linear(2 * width, TGT_VOCAB)

    def encode(self, src, lengths):
        packed = pack_padded_sequence(self.src_emb(src), lengths, batch_first=True, enforce_sorted=False)
        states, last = self.enc(packed)
        states, _ = pad_packed_sequence(states, batch_first=True)
        return states, torch.cat([last[0], last[1]], dim=1)[None]

    def decode(self, dec_in, hidden, states, src):
        h, hidden = self.dec(self.tgt_emb(dec_in), hidden)
        scores = self.query(h) @ states.transpose(1, 2) / states.shape[-1] ** 0.5
        scores = scores.masked_fill((src == 0)[:, None, :], float("-inf"))
        context = scores.softmax(-1) @ states
        return self.out(torch.cat([h, context], dim=-1)), hidden


@torch.no_grad()
def exact_match(model, numbers, max_len=6):
    model.eval()
    src, lengths, _, _ = collate(numbers)
    states, hidden = model.encode(src, lengths)
    token = torch.full((len(numbers), 1), BOS)
    texts = [""] * len(numbers)
    done = [False] * len(numbers)
    for _ in range(max_len):
        logits, hidden = model.decode(token, hidden, states, src)
        token = logits.argmax(-1)
        for i, t in enumerate(token[:, 0].tolist()):
            done[i] = done[i] or t >= 10
            if not done[i]:
                texts[i] += str(t)
    return sum(t == str(n) for t, n in zip(texts, numbers)) / len(numbers)


pool = random.sample(range(1, 20000), 4000)
train_numbers, test_numbers = pool[:3600], pool[3600:]
model = Seq2Seq()
opt = torch.optim.Adam(model.parameters(), lr=4e-3)
EPOCHS = 6
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, EPOCHS)

for epoch in range(EPOCHS):
    model.train()
    random.shuffle(train_numbers)
    total, tokens = 0.0, 0
    for start in range(0, len(train_numbers), 60):
        src, lengths, dec_in, dec_out = collate(train_numbers[start:start + 60])
        states, hidden = model.encode(src, lengths)
        logits, _ = model.decode(dec_in, hidden, states, src)
        loss = F.cross_entropy(logits.flatten(0, 1), dec_out.flatten(), ignore_index=IGNORE, reduction="sum")
        count = (dec_out != IGNORE).sum()
        opt.zero_grad()
        (loss / count).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        total, tokens = total + loss.item(), tokens + count.item()
    sched.step()
    print(f"epoch {epoch + 1} nll/token {total / tokens:.4f} exact match {exact_match(model, test_numbers):.3f}")
