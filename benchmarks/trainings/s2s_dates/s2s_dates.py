"""Transformer that rewrites dates: '7 march 1984' becomes '1984-03-07'."""
import random

import torch
from torch import nn
from torch.utils.data import DataLoader

MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"]
CHARS = ["<pad>", "<s>", *"abcdefghijklmnopqrstuvwxyz0123456789 -,"]
INDEX = {c: i for i, c in enumerate(CHARS)}
PAD, START = 0, 1
SRC_LEN, TGT_LEN = 20, 10


def random_date(rng):
    day, month, year = rng.randint(1, 28), rng.randint(1, 12), rng.randint(1950, 2030)
    name = MONTHS[month - 1] if rng.random() < 0.6 else MONTHS[month - 1][:3]
    form = rng.choice(["{d} {m} {y}", "{m} {d}, {y}", "{y} {m} {d}"])
    return form.format(d=day, m=name, y=year), f"{year}-{month:02d}-{day:02d}"


class DateCorpus:
    def __init__(self, n, seed):
        rng = random.Random(seed)
        self.pairs = [random_date(rng) for _ in range(n)]

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, i):
        src, tgt = self.pairs[i]
        ids = [INDEX[c] for c in src]
        return torch.tensor(ids + [PAD] * (SRC_LEN - len(ids))), torch.tensor([INDEX[c] for c in tgt])


class DateTransformer(nn.Module):
    def __init__(self, dim=48, heads=4):
        super().__init__()
        self.embed = nn.Embedding(len(CHARS), dim, padding_idx=PAD)
        self.src_pos = nn.Parameter(0.1 * torch.randn(SRC_LEN, dim))
        self.tgt_pos = nn.Parameter(0.1 * torch.randn(TGT_LEN + 1, dim))
        self.core = nn.Transformer(
            dim, heads, num_encoder_layers=2, num_decoder_layers=2, dim_feedforward=96, dropout=0.0,
            batch_first=True, norm_first=True,
        )
        self.out = nn.Linear(dim, len(CHARS))

    def forward(self, src, tgt):
        steps = tgt.size(1)
        causal = nn.Transformer.generate_square_subsequent_mask(steps)
        hidden = self.core(
            self.embed(src) + self.src_pos,
            self.embed(tgt) + self.tgt_pos[:steps],
            tgt_mask=causal,
            src_key_padding_mask=src == PAD,
            memory_key_padding_mask=src == PAD,
            tgt_is_causal=True,
        )
        return self.out(hidden)


@torch.no_grad()
def rewrite(model, src):
    model.eval()
    tokens = torch.full((len(src), 1), START)
    for _ in range(TGT_LEN):
        tokens = torch.cat([tokens, model(src, tokens)[:, -1].argmax(-1, keepdim=True)], dim=1)
    return tokens[:, 1:]


def text(ids):
    return "".join(CHARS[i] for i in ids.tolist() if i > START)


def main():
    torch.manual_seed(0)
    train = DataLoader(DateCorpus(1600, 0), batch_size=64, shuffle=True)
    test_src, test_tgt = next(iter(DataLoader(DateCorpus(100, 1), batch_size=100)))
    model = DateTransformer()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    criterion = nn.CrossEntropyLoss(ignore_index=PAD)
    for epoch in range(1, 4):
        model.train()
        total = 0.0
        for src, tgt in train:
            logits = model(src, tgt)
            loss = criterion(logits.flatten(0, 1), tgt.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        out = rewrite(model, test_src)
        exact = (out == test_tgt).all(1).float().mean().item()
        print(f"epoch {epoch} loss {total / len(train):.4f} exact match {exact:.3f} e.g. {text(test_src[0])!r} -> {text(out[0])!r}")


if __name__ == "__main__":
    main()
