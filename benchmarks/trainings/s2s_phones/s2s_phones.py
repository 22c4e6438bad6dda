"""LSTM seq2seq for spelling numbers: 42 -> 'four two'. Padded batches, ignored pads, teacher forcing that fades."""
import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader

WORDS = "zero one two three four five six seven eight nine double".split()
PAD, BOS, EOS = 0, 1, 2
DIGIT = {str(d): d + 1 for d in range(10)}
WORD = {w: i + 3 for i, w in enumerate(WORDS)}


def speak(number):
    out, i = [], 0
    while i < len(number):
        if i + 1 < len(number) and number[i] == number[i + 1]:
            out += ["double", WORDS[int(number[i])]]
            i += 2
        else:
            out.append(WORDS[int(number[i])])
            i += 1
    return out


def corpus(n, seed):
    rng = random.Random(seed)
    rows = []
    for _ in range(n):
        number = "".join(rng.choice("0123456789") for _ in range(rng.randint(2, 5)))
        rows.append((torch.tensor([DIGIT[c] for c in number]), torch.tensor([BOS, *(WORD[w] for w in speak(number)), EOS])))
    return rows


def collate(rows):
    rows = sorted(rows, key=lambda r: -len(r[0]))
    lengths = torch.tensor([len(s) for s, _ in rows])
    return pad_sequence([s for s, _ in rows], True, PAD), lengths, pad_sequence([t for _, t in rows], True, PAD)


class Speaker(nn.Module):
    def __init__(self, dim=32, hidden=64):
        super().__init__()
        self.src = nn.Embedding(11, dim, padding_idx=PAD)
        self.tgt = nn.Embedding(3 + len(WORDS), dim, padding_idx=PAD)
        self.encoder = nn.LSTM(dim, hidden, batch_first=True)
        self.decoder = nn.LSTMCell(dim + hidden, hidden)
        self.attend = nn.Linear(hidden, hidden, bias=False)
        self.out = nn.Linear(2 * hidden, 3 + len(WORDS))

    def forward(self, src, lengths, tgt, forcing):
        packed, (h, c) = self.encoder(pack_padded_sequence(self.src(src), lengths, batch_first=True))
        memory, _ = nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
        hidden = (h[0], c[0])
        blocked = (src == PAD)[:, : memory.size(1)]
        token, context, logits = tgt[:, 0], torch.zeros_like(h[0]), []
        for t in range(1, tgt.size(1)):
            hidden = self.decoder(torch.cat([self.tgt(token), context], dim=1), hidden)
            score = (memory @ self.attend(hidden[0]).unsqueeze(2)).squeeze(2).masked_fill(blocked, float("-inf"))
            context = (score.softmax(1).unsqueeze(1) @ memory).squeeze(1)
            step = self.out(torch.cat([hidden[0], context], dim=1))
            logits.append(step)
            token = tgt[:, t] if random.random() < forcing else step.argmax(1)
        return torch.stack(logits, dim=1)


@torch.no_grad()
def exact(model, loader):
    model.eval()
    right = total = 0
    for src, lengths, tgt in loader:
        guess = model(src, lengths, tgt, forcing=0.0).argmax(-1)
        wanted = tgt[:, 1:]
        right += ((guess == wanted) | (wanted == PAD)).all(1).sum().item()
        total += len(src)
    return right / total


def main():
    random.seed(0)
    torch.manual_seed(0)
    train = DataLoader(corpus(1800, 1), batch_size=64, shuffle=True, collate_fn=collate)
    test = DataLoader(corpus(200, 2), batch_size=200, collate_fn=collate)
    model = Speaker()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
    criterion = nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=0.02)
    for epoch in range(8):
        model.train()
        forcing = max(0.5, 1.0 - 0.05 * epoch)
        for src, lengths, tgt in train:
            logits = model(src, lengths, tgt, forcing)
            loss = criterion(logits.flatten(0, 1), tgt[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        scheduler.step()
        if epoch % 2 == 1:
            print(f"epoch {epoch + 1} loss {loss.item():.4f} forcing {forcing:.2f} exact {exact(model, test):.3f}")


if __name__ == "__main__":
    main()
