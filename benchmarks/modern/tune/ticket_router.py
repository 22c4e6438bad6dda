"""Route support tickets: a small transformer encoder over padded token ids."""

import argparse
import random

import torch
import torch.nn as nn
from torch.utils.data import DataLoader

PAD = 0
QUEUES = 4
VOCAB = 60


def make_ticket(rng):
    queue = rng.randrange(QUEUES)
    n = rng.randint(4, 40)
    tokens = [rng.randrange(20, VOCAB) for _ in range(n)]
    hint = rng.randrange(1 + 4 * queue, 5 + 4 * queue)
    tokens[rng.randrange(n)] = hint
    return tokens, queue


def make_tickets(n, seed):
    rng = random.Random(seed)
    return [make_ticket(rng) for _ in range(n)]


def collate(rows, length=None):
    length = length or max(len(t) for t, _ in rows)
    ids = torch.full((len(rows), length), PAD)
    for i, (tokens, _) in enumerate(rows):
        ids[i, : len(tokens)] = torch.tensor(tokens)
    return ids, torch.tensor([q for _, q in rows])


class Router(nn.Module):
    def __init__(self, dim=32, heads=4, layers=2, max_len=256):
        super().__init__()
        self.tokens = nn.Embedding(VOCAB, dim)
        self.positions = nn.Embedding(max_len, dim)
        block = nn.TransformerEncoderLayer(dim, heads, 64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(block, layers, enable_nested_tensor=False)
        self.classify = nn.Linear(dim, QUEUES)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions(torch.arange(ids.size(1)))
        x = self.encoder(x)
        return self.classify(x.mean(dim=1))


@torch.no_grad()
def accuracy(model, rows, batch_size, length=None):
    model.eval()
    hits = 0
    for start in range(0, len(rows), batch_size):
        ids, queue = collate(rows[start:start + batch_size], length)
        hits += (model(ids).argmax(1) == queue).sum().item()
    model.train()
    return hits / len(rows)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=5)
    ap.add_argument("--batch-size", type=int, default=32)
    ap.add_argument("--lr", type=float, default=3e-3)
    ap.add_argument("--max-length", type=int, default=200)
    args = ap.parse_args()

    torch.manual_seed(16)
    train, test = make_tickets(1200, 1), make_tickets(320, 2)
    loader = DataLoader(train, args.batch_size, shuffle=True, collate_fn=collate)
    model = Router()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        total = 0.0
        for ids, queue in loader:
            loss = nn.functional.cross_entropy(model(ids), queue)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f} test {accuracy(model, test, 32):.3f}")
    print(f"test, one ticket at a time: {accuracy(model, test, 1):.3f}")
    print(f"test, padded to {args.max_length} as in production: {accuracy(model, test, 64, args.max_length):.3f}")


if __name__ == "__main__":
    main()
