"""Sequence to sequence transformer: write the given digits in ascending order.

Batches are made of sequences of similar length, as that wastes less computation.
"""
import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence

PAD, BOS, EOS = 0, 1, 2
OFFSET = 3
VOCAB = OFFSET + 10


def example(rnd, low=3, high=9):
    digits = [rnd.randrange(10) for _ in range(rnd.randint(low, high))]
    src = torch.tensor([d + OFFSET for d in digits])
    tgt = torch.tensor([BOS] + [d + OFFSET for d in sorted(digits)] + [EOS])
    return src, tgt


def collate(pairs):
    src = pad_sequence([p[0] for p in pairs], batch_first=True, padding_value=PAD)
    tgt = pad_sequence([p[1] for p in pairs], batch_first=True, padding_value=PAD)
    return src, tgt


def bucketed(pairs, size, rnd):
    """sort by length, cut into batches, shuffle the batches"""
    rnd.shuffle(pairs)
    pairs = sorted(pairs, key=lambda p: len(p[0]))
    chunks = [pairs[i:i + size] for i in range(0, len(pairs), size)]
    rnd.shuffle(chunks)
    for c in chunks:
        yield collate(c)


class Seq2Seq(nn.Module):
    def __init__(self, d=48, heads=4, max_len=16):
        super().__init__()
        self.src_emb = nn.Embedding(VOCAB, d)
        self.tgt_emb = nn.Embedding(VOCAB, d)
        self.pos = nn.Embedding(max_len, d)
        self.core = nn.Transformer(d, heads, 1, 2, dim_feedforward=96, dropout=0.0, batch_first=True)
        self.out = nn.Linear(d, VOCAB)

    def forward(self, src, tgt):
        s = self.src_emb(src)
        t = self.tgt_emb(tgt) + self.pos(torch.arange(tgt.size(1)))
        causal = nn.Transformer.generate_square_subsequent_mask(tgt.size(1))
        h = self.core(s, t, tgt_mask=causal, tgt_is_causal=True)
        return self.out(h)


@torch.no_grad()
def exact_match(model, pairs):
    model.eval()
    src, tgt = collate(pairs)
    cur = torch.full((len(src), 1), BOS)
    for _ in range(tgt.size(1) - 1):
        cur = torch.cat([cur, model(src, cur)[:, -1].argmax(-1, keepdim=True)], 1)
    ok = 0
    for c, (_, t) in zip(cur, pairs):
        ok += torch.equal(c[: len(t)], t)
    return ok / len(pairs)


def main():
    rnd = random.Random(1)
    torch.manual_seed(1)
    train = [example(rnd) for _ in range(5000)]
    test = [example(rnd) for _ in range(300)]
    model = Seq2Seq()
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=1.5e-3, epochs=8, steps_per_epoch=79, pct_start=0.15)
    loss_fn = nn.CrossEntropyLoss(ignore_index=PAD)
    for epoch in range(8):
        model.train()
        total, n = 0.0, 0
        for src, tgt in bucketed(train, 64, rnd):
            logits = model(src, tgt[:, :-1])
            loss = loss_fn(logits.flatten(0, 1), tgt[:, 1:].flatten())
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            sched.step()
            total, n = total + loss.item(), n + 1
        print(f"epoch {epoch} loss {total / n:.4f} test sequences sorted exactly {exact_match(model, test):.3f}")


if __name__ == "__main__":
    main()
