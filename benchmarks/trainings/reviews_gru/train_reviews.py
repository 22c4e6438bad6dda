"""Sentiment of generated product reviews with a GRU."""
import random

import numpy as np
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset
from tqdm import tqdm

SEED = 3
random.seed(SEED); np.random.seed(SEED); torch.manual_seed(SEED)

POS = "great lovely sturdy bright quick handy superb pleasant reliable neat".split()
NEG = "poor flimsy dull slow awkward broken noisy ugly faulty cheap".split()
FILL = ("the this that it was is arrived box colour handle screen button cable manual shop week "
        "day bought used with for and on in my our friend kitchen office desk price order").split()
NOT = ["not", "never", "hardly"]


def make_review():
    label = random.randint(0, 1)
    n = random.choice([3, 4, 5, 6, 8, 10, 60])
    words = [random.choice(FILL) for _ in range(n)]
    for _ in range(random.choice([1, 2, 3])):
        flip = random.random() < 0.4
        pool = POS if label != flip else NEG
        phrase = ([random.choice(NOT)] if flip else []) + [random.choice(pool)]
        at = random.randint(0, len(words))
        words[at:at] = phrase if not (at > 0 and words[at - 1] in NOT) else []
    if not any(w in POS + NEG for w in words):
        words.append(random.choice(POS if label else NEG))
    return words, label


VOCAB = {w: i + 1 for i, w in enumerate(sorted(set(POS + NEG + FILL + NOT)))}


class Reviews(Dataset):
    def __init__(self, n):
        self.rows = [make_review() for _ in range(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        words, label = self.rows[i]
        return torch.tensor([VOCAB[w] for w in words]), label


def collate(batch):
    seqs, labels = zip(*batch)
    lengths = torch.tensor([len(s) for s in seqs])
    return pad_sequence(seqs, batch_first=True), lengths, torch.tensor(labels, dtype=torch.float)


class GRUClassifier(nn.Module):
    def __init__(self, vocab, emb=24, hid=32):
        super().__init__()
        self.emb = nn.Embedding(vocab, emb, padding_idx=0)
        self.rnn = nn.GRU(emb, hid, batch_first=True)
        self.fc = nn.Linear(hid, 1)

    def forward(self, tokens, lengths):
        out, _ = self.rnn(self.emb(tokens))
        last = out[:, -1]
        return self.fc(last).squeeze(-1)


def evaluate(model, loader):
    model.eval()
    right = total = 0
    with torch.no_grad():
        for tok, ln, y in loader:
            right += ((model(tok, ln) > 0) == (y > 0.5)).sum().item()
            total += len(y)
    return right / total


def main():
    train, val = Reviews(2000), Reviews(600)
    train_dl = DataLoader(train, batch_size=32, shuffle=True, collate_fn=collate)
    val_dl = DataLoader(val, batch_size=64, collate_fn=collate)
    model = GRUClassifier(len(VOCAB) + 1)
    optim = torch.optim.Adam(model.parameters(), lr=2e-3)
    loss_fn = nn.BCEWithLogitsLoss()
    best = 0.0
    for epoch in range(5):
        model.train()
        bar = tqdm(train_dl, desc=f"epoch {epoch + 1}", mininterval=2)
        tot = 0.0
        for tok, ln, y in bar:
            optim.zero_grad()
            loss = loss_fn(model(tok, ln), y)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optim.step()
            tot += loss.item()
            bar.set_postfix(loss=loss.item())
        acc = evaluate(model, val_dl)
        best = max(best, acc)
        print(f"epoch {epoch + 1}: loss {tot / len(train_dl):.4f} val acc {acc:.4f}")
    print(f"best val acc {best:.4f}")


if __name__ == "__main__":
    main()
