import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocab, emb, hidden):
        super().__init__()
        self.embed = nn.Embedding(vocab, emb)
        self.rnn = nn.LSTM(emb, hidden, batch_first=True)

    def forward(self, tokens):
        _, state = self.rnn(self.embed(tokens))
        return repackage(state)


class Decoder(nn.Module):
    def __init__(self, vocab, emb, hidden):
        super().__init__()
        self.embed = nn.Embedding(vocab, emb)
        self.rnn = nn.LSTM(emb, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, tokens, state):
        h, state = self.rnn(self.embed(tokens), state)
        return self.out(h), state


def repackage(state):
    """Wrap hidden states in new tensors."""
    if isinstance(state, torch.Tensor):
        return state.detach()
    return tuple(repackage(s) for s in state)


class Seq2Seq(nn.Module):
    def __init__(self, vocab, emb=24, hidden=96, bos=0):
        super().__init__()
        self.bos = bos
        self.encoder = Encoder(vocab, emb, hidden)
        self.decoder = Decoder(vocab, emb, hidden)

    def forward(self, src, tgt):
        start = torch.full_like(tgt[:, :1], self.bos)
        logits, _ = self.decoder(torch.cat([start, tgt[:, :-1]], dim=1), self.encoder(src))
        return logits

    @torch.no_grad()
    def decode(self, src, length):
        state = self.encoder(src)
        token = torch.full((len(src), 1), self.bos)
        words = []
        for _ in range(length):
            logits, state = self.decoder(token, state)
            token = logits.argmax(-1)
            words.append(token)
        return torch.cat(words, dim=1)
