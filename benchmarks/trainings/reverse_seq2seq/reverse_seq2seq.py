"""Reverse words of different lengths with nn.Transformer."""

import random

import torch
from torch import nn

LETTERS = "abcdefgh"
PAD, BOS, EOS = 0, 1, 2
VOCAB = len(LETTERS) + 3
MAX_LEN = 7


def word_batch(n, rng):
    src, tgt = [], []
    for _ in range(n):
        word = [rng.randrange(3, VOCAB) for _ in range(rng.randint(3, MAX_LEN))]
        src.append(torch.tensor(word))
        tgt.append(torch.tensor([BOS, *reversed(word), EOS]))
    pad = lambda seqs: nn.utils.rnn.pad_sequence(seqs, batch_first=True, padding_value=PAD)
    return pad(src), pad(tgt)


class Reverser(nn.Module):
    def __init__(self, d_model=48, nhead=4):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, d_model, padding_idx=PAD)
        self.pos = nn.Embedding(MAX_LEN + 3, d_model)
        self.transformer = nn.Transformer(
            d_model, nhead, num_encoder_layers=1, num_decoder_layers=1,
            dim_feedforward=128, dropout=0.0, batch_first=True, norm_first=True,
        )
        self.out = nn.Linear(d_model, VOCAB, bias=False)
        nn.init.normal_(self.embed.weight, std=0.1)
        self.out.weight = self.embed.weight

    def add_pos(self, ids):
        return self.embed(ids) + self.pos(torch.arange(ids.size(1)))

    def forward(self, src, tgt):
        causal = nn.Transformer.generate_square_subsequent_mask(tgt.size(1)).isinf()
        h = self.transformer(
            self.add_pos(src), self.add_pos(tgt), tgt_mask=causal,
            src_key_padding_mask=src == PAD, tgt_key_padding_mask=tgt == PAD, memory_key_padding_mask=src == PAD,
        )
        return self.out(h)


@torch.no_grad()
def greedy_accuracy(model, src, tgt):
    model.eval()
    out = torch.full((len(src), 1), BOS)
    for _ in range(tgt.size(1) - 1):
        out = torch.cat([out, model(src, out)[:, -1].argmax(-1, keepdim=True)], dim=1)
    model.train()
    return ((out == tgt) | (tgt == PAD)).all(dim=1).float().mean().item()


def main(steps=300):
    rng = random.Random(3)
    torch.manual_seed(3)
    model = Reverser()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3, betas=(0.9, 0.98))
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min((s + 1) / 40, (40 / (s + 1)) ** 0.5))
    criterion = nn.CrossEntropyLoss(ignore_index=PAD)
    test_src, test_tgt = word_batch(200, random.Random(99))
    running = 0.0
    for step in range(1, steps + 1):
        src, tgt = word_batch(48, rng)
        logits = model(src, tgt[:, :-1])
        loss = criterion(logits.reshape(-1, VOCAB), tgt[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        running += loss.item()
        if step % 50 == 0:
            print(f"step {step} loss {running / 50:.4f} whole words right {greedy_accuracy(model, test_src, test_tgt):.3f}")
            running = 0.0


if __name__ == "__main__":
    main()
