"""Encoder-decoder GRU that learns to read a word backwards (a fixed-size bottleneck, no attention)."""
import random

import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(64)
random.seed(64)

PAD, BOS, EOS, OFFSET, SYMBOLS = 0, 1, 2, 3, 6
VOCAB = OFFSET + SYMBOLS


def make_batch(n):
    rows = [[random.randrange(SYMBOLS) + OFFSET for _ in range(random.randint(5, 8))] for _ in range(n)]
    width = max(map(len, rows))
    src = torch.full((n, width), PAD)
    tgt = torch.full((n, width + 2), PAD)
    for i, row in enumerate(rows):
        src[i, width - len(row):] = torch.tensor(row)          # padded on the left
        tgt[i, : len(row) + 2] = torch.tensor([BOS, *reversed(row), EOS])
    return src, tgt


class Translator(nn.Module):
    def __init__(self, emb=32, hidden=64):
        super().__init__()
        self.src_embed = nn.Embedding(VOCAB, emb, padding_idx=PAD)
        self.tgt_embed = nn.Embedding(VOCAB, emb, padding_idx=PAD)
        self.encoder = nn.GRU(emb, hidden, batch_first=True)
        self.bridge = nn.Linear(hidden, hidden)
        self.decoder = nn.GRU(emb, hidden, batch_first=True)
        self.project = nn.Linear(hidden, VOCAB)

    @torch.no_grad()
    def encode(self, src):
        _, state = self.encoder(self.src_embed(src))
        return state

    def forward(self, src, tgt_in):
        state = torch.tanh(self.bridge(self.encode(src)))
        out, _ = self.decoder(self.tgt_embed(tgt_in), state)
        return self.project(out)

    @torch.no_grad()
    def translate(self, src, max_len=10):
        state = torch.tanh(self.bridge(self.encode(src)))
        token = torch.full((len(src), 1), BOS)
        pieces = []
        for _ in range(max_len):
            out, state = self.decoder(self.tgt_embed(token), state)
            token = self.project(out).argmax(-1)
            pieces.append(token)
        return torch.cat(pieces, 1)


def exact_match(model, n=200):
    model.eval()
    src, tgt = make_batch(n)
    guess = model.translate(src, max_len=tgt.size(1) - 1)
    gold = tgt[:, 1:]
    right = ((guess == gold) | (gold == PAD)).all(1)
    model.train()
    return right.float().mean().item()


model = Translator()
criterion = nn.CrossEntropyLoss(ignore_index=PAD)
optimizer = optim.Adam(model.parameters(), lr=5e-3)
STEPS = 450
scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)

running = 0.0
for step in range(1, STEPS + 1):
    src, tgt = make_batch(48)
    logits = model(src, tgt[:, :-1])
    loss = criterion(logits.reshape(-1, VOCAB), tgt[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
    running += loss.item()
    if step % 75 == 0:
        print(f"step {step:4d}  loss {running / 75:.4f}  exact match {exact_match(model):.3f}")
        running = 0.0
