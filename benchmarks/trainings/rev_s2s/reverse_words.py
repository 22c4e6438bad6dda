"""Sequence to sequence: sort the letters of a word with a small encoder-decoder Transformer."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

PAD, BOS, EOS, FIRST, N_LETTERS = 0, 1, 2, 3, 10
VOCAB, DIM, MAX_LEN = FIRST + N_LETTERS, 48, 10


def batch_of_words(n, rng):
    """Source words of 3 to 7 letters, target the same letters in order."""
    src = np.full((n, 7), PAD)
    tgt = np.full((n, 9), PAD)
    for i in range(n):
        k = rng.integers(3, 8)
        word = rng.integers(FIRST, VOCAB, k)
        src[i, :k] = word
        tgt[i, 0] = BOS
        tgt[i, 1:k + 1] = np.sort(word)
        tgt[i, k + 1] = EOS
    return torch.from_numpy(src), torch.from_numpy(tgt)


class Sorter(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, DIM, padding_idx=PAD)
        self.pos = nn.Embedding(MAX_LEN, DIM)
        self.core = nn.Transformer(DIM, 4, 1, 2, 96, dropout=0.0, batch_first=True)
        self.out = nn.Linear(DIM, VOCAB)

    def embed(self, ids):
        return self.tok(ids) + self.pos(torch.arange(ids.shape[1]))

    def forward(self, src, tgt_in):
        pad = src == PAD
        causal = torch.triu(torch.ones(tgt_in.shape[1], tgt_in.shape[1], dtype=torch.bool), 1)
        h = self.core(
            self.embed(src), self.embed(tgt_in), tgt_mask=causal,
            src_key_padding_mask=pad, memory_key_padding_mask=pad, tgt_key_padding_mask=tgt_in == PAD,
        )
        return self.out(h)

    @torch.no_grad()
    def decode(self, src, steps=8):
        ids = torch.full((len(src), 1), BOS)
        done = torch.zeros(len(src), dtype=torch.bool)
        for _ in range(steps):
            nxt = self(src, ids)[:, -1].argmax(-1)
            nxt = nxt.masked_fill(done, PAD)
            done |= nxt == EOS
            ids = torch.cat([ids, nxt[:, None]], dim=1)
        return ids


def lr_factor(step, warm=60, total=450):
    return min((step + 1) / warm, max(0.05, 1 - step / total))


def main():
    torch.manual_seed(38)
    rng = np.random.default_rng(38)
    src_val, tgt_val = batch_of_words(300, np.random.default_rng(39))
    model = Sorter()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3, betas=(0.9, 0.98))
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lr_factor)
    running = 0.0
    for step in range(1, 451):
        model.train()
        src, tgt = batch_of_words(64, rng)
        logits = model(src, tgt[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tgt[:, 1:].flatten(), ignore_index=PAD)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
        running += loss.item()
        if step % 90 == 0:
            model.eval()
            exact = (model.decode(src_val) == tgt_val).all(1).float().mean().item()
            print(f"step {step} lr {sched.get_last_lr()[0]:.2e} loss {running / 90:.4f} words sorted exactly {exact:.3f}")
            running = 0.0


if __name__ == "__main__":
    main()
