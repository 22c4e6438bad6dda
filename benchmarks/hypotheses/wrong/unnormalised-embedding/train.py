"""What a reader will like next (two towers, sampled softmax over the batch)."""

import torch
from torch import nn
from torch.nn import functional

READERS, BOOKS, TASTES, WIDTH = 300, 200, 6, 16
BATCH_SIZE, EPOCHS = 128, 6


def likes():
    """Pairs of reader and book, and for each reader one more book that is held out."""
    generator = torch.Generator().manual_seed(3)
    readers = torch.randn(READERS, TASTES, generator=generator)
    books = torch.randn(BOOKS, TASTES, generator=generator)
    chances = torch.softmax(1.2 * readers @ books.T, 1)
    chosen = torch.multinomial(chances, 16, generator=generator)
    pairs = torch.stack([torch.arange(READERS).repeat_interleave(15), chosen[:, :15].flatten()], 1)
    return pairs, chosen[:, :15], chosen[:, 15]


class Towers(nn.Module):
    def __init__(self):
        super().__init__()
        self.readers = nn.Embedding(READERS, WIDTH)
        self.books = nn.Embedding(BOOKS, WIDTH)
        nn.init.normal_(self.readers.weight, std=0.3)
        nn.init.normal_(self.books.weight, std=0.3)

    def forward(self, readers, books):
        return self.readers(readers), self.books(books)


def recall(model, known, held_out):
    with torch.no_grad():
        readers, books = model(torch.arange(READERS), torch.arange(BOOKS))
        scores = readers @ books.T
    scores.scatter_(1, known, -torch.inf)
    return (scores.topk(20, 1).indices == held_out[:, None]).any(1).float().mean().item()


def main():
    torch.manual_seed(0)
    pairs, known, held_out = likes()
    model = Towers()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for epoch in range(EPOCHS):
        for rows in torch.randperm(len(pairs)).split(BATCH_SIZE):
            readers, books = model(*pairs[rows].T)
            loss = functional.cross_entropy(readers @ books.T, torch.arange(len(rows)))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f} test recall {recall(model, known, held_out):.4f}")


if __name__ == "__main__":
    main()
