"""Guess the (invented) language of a word from its letters. Padded batches, packed for the GRU."""
import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader, WeightedRandomSampler
from tqdm import tqdm

LANGS = {
    "anor": (["la", "ri", "mo", "te", "na"], ["el", "is", "or"]),
    "brask": (["kra", "dro", "gul", "zak", "tor"], ["k", "g", "sk"]),
    "cimi": (["ci", "mi", "sha", "pu", "yo"], ["ni", "ko", "ta"]),
}
SHARES = {"anor": 0.90, "brask": 0.07, "cimi": 0.03}
ABC = {c: i + 1 for i, c in enumerate("abcdefghijklmnopqrstuvwxyz")}


def word(lang, r):
    pool = LANGS[lang][0]
    out = "".join(r.choice(pool) for _ in range(r.randint(1, 5))) + r.choice(LANGS[lang][1])
    return "".join(r.choice("aeioulrn") if r.random() < 0.25 else c for c in out)


def table(n, r, balanced=False):
    names = list(LANGS)
    rows = []
    for i in range(n):
        k = i % 3 if balanced else r.choices(range(3), weights=[SHARES[m] for m in names])[0]
        rows.append((torch.tensor([ABC[c] for c in word(names[k], r)]), k))
    return rows


def collate(rows):
    rows = sorted(rows, key=lambda z: -len(z[0]))
    seqs, labels = zip(*rows)
    return pad_sequence(seqs, batch_first=True), torch.tensor([len(s) for s in seqs]), torch.tensor(labels)


class Net(nn.Module):
    def __init__(self, e=12, h=24):
        super().__init__()
        self.emb = nn.Embedding(27, e, padding_idx=0)
        self.gru = nn.GRU(e, h, bidirectional=True, batch_first=True)
        self.out = nn.Linear(2 * h, 3)

    def forward(self, x, lengths):
        _, last = self.gru(pack_padded_sequence(self.emb(x), lengths, batch_first=True))
        return self.out(torch.cat([last[0], last[1]], dim=-1))


def main():
    r = random.Random(0)
    torch.manual_seed(0)
    train, test = table(2400, r), table(300, r, balanced=True)
    counts = torch.bincount(torch.tensor([k for _, k in train])).float()
    print("training counts", counts.tolist())
    weights = [(1 / counts[k]).item() for _, k in train]
    loader = DataLoader(train, batch_size=32, sampler=WeightedRandomSampler(weights, len(train)), collate_fn=collate)
    test_loader = DataLoader(test, batch_size=100, collate_fn=collate)
    net = Net()
    opt = torch.optim.RMSprop(net.parameters(), lr=3e-3)
    for ep in range(5):
        net.train()
        tot = 0
        for x, n, y in tqdm(loader, mininterval=5, leave=False):
            opt.zero_grad()
            loss = nn.functional.cross_entropy(net(x, n), y)
            loss.backward()
            opt.step()
            tot += loss.item()
        net.eval()
        hit = torch.zeros(3)
        with torch.no_grad():
            for x, n, y in test_loader:
                ok = net(x, n).argmax(1) == y
                hit += torch.bincount(y[ok], minlength=3).float()
        print(f"epoch {ep + 1} loss {tot / len(loader):.3f} recall per class {[round(v, 2) for v in (hit / 100).tolist()]}")


if __name__ == "__main__":
    main()
