"""Translate written dates to ISO form with a GRU encoder and decoder."""

import random

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
CHARS = ["<pad>", "<bos>", "<eos>"] + sorted(set("".join(MONTHS) + "0123456789-/ ,"))
PAD, BOS, EOS = 0, 1, 2
ID = {c: i for i, c in enumerate(CHARS)}


def random_date(rng):
    d, m, y = rng.randint(1, 28), rng.randint(1, 12), rng.randint(1980, 2025)
    source = rng.choice([f"{d} {MONTHS[m - 1]} {y}", f"{MONTHS[m - 1]} {d}, {y}", f"{d}/{m}/{y}"])
    return source, f"{y}-{m:02d}-{d:02d}"


class DateSet(Dataset):
    def __init__(self, n, seed):
        rng = random.Random(seed)
        self.rows = [random_date(rng) for _ in range(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        source, target = self.rows[i]
        return [ID[c] for c in source], [BOS, *(ID[c] for c in target), EOS]


def collate(batch):
    pad = lambda seqs: nn.utils.rnn.pad_sequence([torch.tensor(s) for s in seqs], True, PAD)
    lengths = torch.tensor([len(s) for s, _ in batch])
    return pad([s for s, _ in batch]), lengths, pad([t for _, t in batch])


class Seq2Seq(nn.Module):
    def __init__(self, dim=32, hidden=96):
        super().__init__()
        self.emb = nn.Embedding(len(CHARS), dim, padding_idx=PAD)
        self.encoder = nn.GRU(dim, hidden, batch_first=True)
        self.decoder = nn.GRU(dim, hidden, batch_first=True)
        self.out = nn.Linear(hidden, len(CHARS))

    def encode(self, src, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(self.emb(src), lengths, batch_first=True, enforce_sorted=False)
        return self.encoder(packed)[1]

    def decode(self, tokens, state):
        h, state = self.decoder(self.emb(tokens), state)
        return self.out(h), state

    def forward(self, src, lengths, decoder_input):
        return self.decode(decoder_input, self.encode(src, lengths))[0]


@torch.no_grad()
def exact_match(model, loader):
    model.eval()
    good = total = 0
    for src, lengths, tgt in loader:
        state = model.encode(src, lengths)
        token = torch.full((len(src), 1), BOS)
        steps = []
        for _ in range(tgt.size(1) - 1):
            logits, state = model.decode(token, state)
            token = logits.argmax(-1)
            steps.append(token)
        good += (torch.cat(steps, 1) == tgt[:, 1:]).all(1).sum().item()
        total += len(src)
    model.train()
    return good / total


def main():
    torch.manual_seed(10)
    train = DataLoader(DateSet(2400, 1), batch_size=64, shuffle=True, collate_fn=collate)
    test = DataLoader(DateSet(300, 2), batch_size=100, collate_fn=collate)
    model = Seq2Seq()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    criterion = nn.CrossEntropyLoss(ignore_index=PAD)
    for epoch in range(8):
        total = correct = tokens = 0
        for src, lengths, tgt in train:
            labels = tgt[:, 1:]
            logits = model(src, lengths, tgt[:, 1:])
            loss = criterion(logits.flatten(0, 1), labels.flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item()
            correct += (logits.argmax(-1) == labels).sum().item()
            tokens += labels.numel()
        print(f"epoch {epoch}: loss {total / len(train):.4f} token acc {correct / tokens:.3f} exact {exact_match(model, test):.3f}")


if __name__ == "__main__":
    main()
