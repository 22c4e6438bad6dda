"""Translate written dates ("3rd of march 1998") to ISO form with a GRU encoder and an attention decoder."""
import datetime
import random

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

PAD, SOS, EOS = 0, 1, 2
SRC_CHARS = " abcdefghijklmnopqrstuvwxyz0123456789,"
TGT_CHARS = "0123456789-"
SRC = {c: i + 1 for i, c in enumerate(SRC_CHARS)}
TGT = {c: i + 3 for i, c in enumerate(TGT_CHARS)}
MONTHS = "january february march april may june july august september october november december".split()


def sample_date(g):
    d = datetime.date(1970, 1, 1) + datetime.timedelta(days=g.randrange(20000))
    suffix = "th" if 10 <= d.day % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(d.day % 10, "th")
    month = MONTHS[d.month - 1]
    text = g.choice([
        f"{d.day} {month[:3]} {d.year}",
        f"{month} {d.day}, {d.year}",
        f"{d.day}{suffix} of {month} {d.year}",
        f"in {d.year}, on {month[:3]} {d.day}",
    ])
    return text, d.isoformat()


def batch_of(g, n):
    pairs = [sample_date(g) for _ in range(n)]
    src = [torch.tensor([SRC[c] for c in s]) for s, _ in pairs]
    tgt = torch.tensor([[SOS] + [TGT[c] for c in t] + [EOS] for _, t in pairs])
    lengths = torch.tensor([len(s) for s in src])
    return pad_sequence(src, batch_first=True), lengths, tgt


class Encoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.embed = nn.Embedding(len(SRC) + 1, 32, padding_idx=PAD)
        self.rnn = nn.GRU(32, dim // 2, bidirectional=True, batch_first=True)

    def forward(self, src, lengths):
        packed = pack_padded_sequence(self.embed(src), lengths, batch_first=True, enforce_sorted=False)
        out, h = self.rnn(packed)
        memory, _ = pad_packed_sequence(out, batch_first=True, total_length=src.size(1))
        return memory, torch.cat([h[0], h[1]], dim=-1)


class Decoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.embed = nn.Embedding(len(TGT) + 3, 32)
        self.cell = nn.GRUCell(32 + dim, dim)
        self.query = nn.Linear(dim, dim)
        self.out = nn.Linear(2 * dim, len(TGT) + 3)

    def forward(self, token, h, memory, keep):
        scores = torch.einsum("bd,bsd->bs", self.query(h), memory)
        weight = scores.masked_fill(~keep, float("-inf")).softmax(-1)
        context = torch.einsum("bs,bsd->bd", weight, memory)
        h = self.cell(torch.cat([self.embed(token), context], -1), h)
        return self.out(torch.cat([h, context], -1)), h


class Seq2Seq(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.encoder, self.decoder = Encoder(dim), Decoder(dim)

    def forward(self, src, lengths, tgt, own_share=0.0):
        """Logits for tgt[:, 1:]; with probability own_share a step is fed the model's own last guess."""
        memory, h = self.encoder(src, lengths)
        keep = src != PAD
        token, steps = tgt[:, 0], []
        for t in range(1, tgt.size(1)):
            logits, h = self.decoder(token, h, memory, keep)
            steps.append(logits)
            own = torch.rand(len(src)) < own_share
            token = torch.where(own, logits.argmax(-1), tgt[:, t])
        return torch.stack(steps, 1)


def main():
    torch.manual_seed(9)
    g, held = random.Random(9), random.Random(10)
    model = Seq2Seq()
    opt = torch.optim.Adam(model.parameters(), lr=4e-3)
    steps = 420
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1, (s + 1) / 20) * (1 - 0.95 * s / steps))
    src_v, len_v, tgt_v = batch_of(held, 300)
    for step in range(1, steps + 1):
        model.train()
        src, lengths, tgt = batch_of(g, 64)
        logits = model(src, lengths, tgt, own_share=0.25 * step / steps)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), tgt[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
        if step % 60 == 0:
            model.eval()
            with torch.no_grad():
                guess = model(src_v, len_v, tgt_v, own_share=1.0).argmax(-1)
            exact = (guess == tgt_v[:, 1:]).all(1).float().mean().item()
            print(f"step {step:4d}  loss {loss.item():.4f}  exact match when decoding freely {exact:.3f}")


if __name__ == "__main__":
    main()
