import torch
import torch.nn as nn

from .data import BOS, PAD, VOCAB


class Seq2Seq(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.enc = nn.GRU(dim, dim, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(2 * dim, dim)
        self.dec = nn.GRU(dim, dim, batch_first=True)
        self.key = nn.Linear(2 * dim, dim)
        self.out = nn.Linear(3 * dim, VOCAB)

    def encode(self, src):
        h, last = self.enc(self.emb(src))
        return h, torch.tanh(self.bridge(torch.cat([last[0], last[1]], -1)))[None]

    def decode(self, tokens, memory, state, src_mask):
        d, state = self.dec(self.emb(tokens), state)
        score = d @ self.key(memory).transpose(1, 2) / d.size(-1) ** 0.5
        score = score.masked_fill(~src_mask[:, None], -1e9)
        ctx = score.softmax(-1) @ memory
        return self.out(torch.cat([d, ctx], -1)), state

    def forward(self, src, tgt_in):
        memory, state = self.encode(src)
        return self.decode(tgt_in, memory, state, src != PAD)[0]

    @torch.no_grad()
    def greedy(self, src, steps):
        memory, state = self.encode(src)
        tok = torch.full((len(src), 1), BOS)
        out = []
        for _ in range(steps):
            logits, state = self.decode(tok, memory, state, src != PAD)
            tok = logits.argmax(-1)
            out.append(tok)
        return torch.cat(out, 1)
