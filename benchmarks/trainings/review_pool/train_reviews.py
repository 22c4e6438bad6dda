"""Sentiment of product reviews of very different length with a small Transformer encoder."""
import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

PAD = 0
GOOD, BAD, FILLER, NEGATE = range(1, 9), range(9, 17), range(17, 60), 60
VOCAB = 61
MAX_LEN = 80


def write_review(rng):
    """Mostly filler words, a few opinion words; 'not' in front of one turns it round."""
    length = rng.choice([4, 5, 6, 7, 8, 70])
    words = [rng.choice(FILLER) for _ in range(length)]
    label = rng.randint(0, 1)
    slots = sorted(rng.sample(range(1, length), 2))
    for s in slots:
        flip = rng.random() < 0.3
        words[s] = rng.choice(GOOD if (label == 1) != flip else BAD)
        words[s - 1] = NEGATE if flip and s - 1 not in slots else words[s - 1]
        if flip and s - 1 in slots:
            words[s] = rng.choice(GOOD if label == 1 else BAD)
    return torch.tensor(words), label


def collate(batch):
    tokens = pad_sequence([b[0] for b in batch], batch_first=True, padding_value=PAD)
    return tokens, torch.tensor([b[1] for b in batch])


class ReviewEncoder(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, dim)
        self.pos = nn.Embedding(MAX_LEN, dim)
        layer = nn.TransformerEncoderLayer(dim, 4, 64, dropout=0.0, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.head = nn.Linear(dim, 2)

    def forward(self, tokens):
        pos = torch.arange(tokens.shape[1])
        h = self.encoder(self.tok(tokens) + self.pos(pos))
        return self.head(h.mean(dim=1))


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    ok = n = 0
    for tokens, labels in loader:
        ok += (model(tokens).argmax(1) == labels).sum().item()
        n += len(labels)
    return ok / n


def main():
    rng = random.Random(30)
    torch.manual_seed(30)
    train = [write_review(rng) for _ in range(2400)]
    valid = [write_review(rng) for _ in range(400)]
    train_loader = DataLoader(train, batch_size=32, shuffle=True, collate_fn=collate)
    # reviews come in one at a time in production
    valid_loader = DataLoader(valid, batch_size=1, collate_fn=collate)
    model = ReviewEncoder()
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(8):
        model.train()
        total = hits = 0
        for tokens, labels in train_loader:
            opt.zero_grad()
            out = model(tokens)
            loss = criterion(out, labels)
            loss.backward()
            opt.step()
            total += loss.item() * len(labels)
            hits += (out.argmax(1) == labels).sum().item()
        print(f"epoch {epoch + 1} loss {total / len(train):.4f} train acc {hits / len(train):.3f} valid acc {accuracy(model, valid_loader):.3f}")


if __name__ == "__main__":
    main()
