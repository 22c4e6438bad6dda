"""GRU encoder-decoder with attention that writes a sequence backwards."""
import torch
import torch.nn as nn
import torch.nn.functional as F

SYMBOLS = 12
LENGTH = 8
BOS = SYMBOLS


class Encoder(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.embed = nn.Embedding(SYMBOLS + 1, dim)
        self.rnn = nn.GRU(dim, hidden)

    def forward(self, src):
        return self.rnn(self.embed(src))


class AttentionDecoder(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.embed = nn.Embedding(SYMBOLS + 1, dim)
        self.rnn = nn.GRU(dim, hidden)
        self.query = nn.Linear(hidden, hidden)
        self.out = nn.Linear(2 * hidden, SYMBOLS)

    def forward(self, tokens, state, memory):
        h, state = self.rnn(self.embed(tokens), state)
        weights = F.softmax(self.query(h) @ memory.transpose(1, 2) / memory.size(-1) ** 0.5, dim=-1)
        context = weights @ memory
        return self.out(torch.cat([h, context], dim=-1)), state


class Seq2Seq(nn.Module):
    def __init__(self, dim=32, hidden=64):
        super().__init__()
        self.encoder = Encoder(dim, hidden)
        self.decoder = AttentionDecoder(dim, hidden)

    def forward(self, src, tgt_in):
        memory, state = self.encoder(src)
        logits, _ = self.decoder(tgt_in, state, memory)
        return logits

    @torch.no_grad()
    def translate(self, src):
        memory, state = self.encoder(src)
        tokens = torch.full((len(src), 1), BOS)
        for _ in range(LENGTH):
            padded = F.pad(tokens, (0, LENGTH - tokens.size(1)), value=BOS)
            logits, _ = self.decoder(padded, state, memory)
            tokens = torch.cat([tokens, logits[:, tokens.size(1) - 1].argmax(-1, keepdim=True)], dim=1)
        return tokens[:, 1:]


def batch_of(n, generator):
    src = torch.randint(SYMBOLS, (n, LENGTH), generator=generator)
    tgt = src.flip(1)
    tgt_in = torch.cat([torch.full((n, 1), BOS), tgt[:, :-1]], dim=1)
    return src, tgt_in, tgt


def evaluate(model, generator):
    model.eval()
    src, _, tgt = batch_of(100, generator)
    out = model.translate(src)
    model.train()
    return (out == tgt).float().mean().item(), (out == tgt).all(1).float().mean().item()


def main(steps=240, batch_size=32):
    torch.manual_seed(12)
    train_gen, test_gen = torch.Generator().manual_seed(1), torch.Generator().manual_seed(2)
    model = Seq2Seq()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(1, steps + 1):
        src, tgt_in, tgt = batch_of(batch_size, train_gen)
        logits = model(src, tgt_in)
        loss = F.cross_entropy(logits.reshape(-1, SYMBOLS), tgt.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 60 == 0:
            symbols, whole = evaluate(model, test_gen)
            print(f"step {step} loss {loss.item():.4f} symbols right {symbols:.3f} sequences right {whole:.3f}")


if __name__ == "__main__":
    main()
