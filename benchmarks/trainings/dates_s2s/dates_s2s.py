# "3 mar 97" -> "1997-03-03": GRU encoder, GRU decoder with dot attention, packed sources, ignore_index for pads,
# teacher forcing with probability falling from 1 to 0.5, so the training loss rises a little while the
# exact-match rate goes up.
import random
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
ALPHA = ["<pad>", "<s>", "</s>"] + sorted(set("abcdefghijklmnopqrstuvwxyz0123456789 -/."))
IX = {c: i for i, c in enumerate(ALPHA)}
rnd = random.Random(99)
torch.manual_seed(99)


def pair():
    y, m, d = rnd.randint(1950, 2049), rnd.randint(1, 12), rnd.randint(1, 28)
    yy = f"{y % 100:02d}"
    src = rnd.choice([f"{d} {MONTHS[m - 1]} {yy}", f"{d}.{m}.{yy}", f"{MONTHS[m - 1]} {d} {yy}", f"{yy}/{m}/{d}"])
    return src, f"{y}-{m:02d}-{d:02d}"


def encode(s):
    return torch.tensor([IX[c] for c in s])


class Model(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.emb = nn.Embedding(len(ALPHA), d, padding_idx=0)
        self.enc = nn.GRU(d, d // 2, bidirectional=True, batch_first=True)
        self.cell = nn.GRUCell(2 * d, d)
        self.out = nn.Linear(2 * d, len(ALPHA))
        self.d = d

    def forward(self, src, lens, tgt=None, forcing=1.0, steps=11):
        packed = pack_padded_sequence(self.emb(src), lens, batch_first=True, enforce_sorted=False)
        mem, _ = pad_packed_sequence(self.enc(packed)[0], batch_first=True)
        mask = torch.arange(mem.size(1))[None] >= lens[:, None]
        h = torch.zeros(len(src), self.d)
        ctx = torch.zeros(len(src), self.d)
        tok = torch.full((len(src),), IX["<s>"])
        outs = []
        for t in range(steps):
            h = self.cell(torch.cat([self.emb(tok), ctx], 1), h)
            att = (mem @ h[:, :, None]).squeeze(2).masked_fill(mask, -1e9).softmax(1)
            ctx = (att[:, :, None] * mem).sum(1)
            logit = self.out(torch.cat([h, ctx], 1))
            outs.append(logit)
            tok = tgt[:, t] if tgt is not None and rnd.random() < forcing else logit.argmax(1).detach()
        return torch.stack(outs, 1)


def batch(pairs):
    src = [encode(a) for a, _ in pairs]
    tgt = torch.stack([torch.cat([encode(b), torch.tensor([IX["</s>"]])]) for _, b in pairs])
    return pad_sequence(src, batch_first=True), torch.tensor([len(s) for s in src]), tgt


def exact(model, pairs):
    model.eval()
    src, lens, tgt = batch(pairs)
    with torch.no_grad():
        return (model(src, lens).argmax(-1) == tgt).all(1).float().mean().item()


def main():
    train = [pair() for _ in range(3000)]
    seen = {a for a, _ in train}
    test = [p for p in (pair() for _ in range(900)) if p[0] not in seen][:400]
    model = Model()
    opt = torch.optim.Adam(model.parameters(), lr=4e-3)
    epochs = 8
    for ep in range(epochs):
        model.train()
        rnd.shuffle(train)
        total = 0.0
        for i in range(0, len(train), 50):
            src, lens, tgt = batch(train[i:i + 50])
            logits = model(src, lens, tgt, forcing=1 - 0.5 * ep / epochs)
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), tgt.flatten(), ignore_index=0)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            total += loss.item()
        for g in opt.param_groups:
            g["lr"] *= 0.8
        print(f"epoch {ep} loss {total / 60:.4f} unseen dates right {exact(model, test):.3f} of {len(test)}")
    print("always the same date: at most", max(sum(b == c for _, c in test) for _, b in test[:50]) / len(test))


if __name__ == "__main__":
    main()
