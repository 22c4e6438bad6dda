"""Looks up a value by its key (attention by hand)."""

import math

import torch
from torch import nn
from torch.nn import functional

ENTRIES, WIDTH, VALUES = 12, 128, 6
BATCH_SIZE, EPOCHS = 64, 8


def tables(rows, seed):
    """Keys with values, and a noisy copy of one of the keys that is asked for."""
    generator = torch.Generator().manual_seed(seed)
    keys = torch.randn(rows, ENTRIES, 12, generator=generator)
    values = torch.randint(0, VALUES, (rows, ENTRIES), generator=generator)
    place = torch.randint(0, ENTRIES, (rows,), generator=generator)
    asked = keys[torch.arange(rows), place] + 0.6 * torch.randn(rows, 12, generator=generator)
    return asked, keys, values, values[torch.arange(rows), place]


def attended(query, keys, values):
    scores = query @ keys.transpose(1, 2) * math.sqrt(query.shape[-1])
    return scores.softmax(2) @ values


class Lookup(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(12, WIDTH)
        self.key = nn.Linear(12, WIDTH)
        self.value = nn.Embedding(VALUES, WIDTH)
        self.head = nn.Linear(WIDTH, VALUES)

    def forward(self, asked, keys, values):
        found = attended(self.query(asked)[:, None], self.key(keys), self.value(values))
        return self.head(found.squeeze(1))


def main():
    torch.manual_seed(0)
    train, test = tables(2000, 1), tables(800, 2)
    model = Lookup()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(EPOCHS):
        for rows in torch.randperm(2000).split(BATCH_SIZE):
            asked, keys, values, wanted = (one[rows] for one in train)
            loss = functional.cross_entropy(model(asked, keys, values), wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            accuracy = (model(*test[:3]).argmax(1) == test[3]).float().mean().item()
        print(f"epoch {epoch} loss {loss.item():.4f} test accuracy {accuracy:.4f}")


if __name__ == "__main__":
    main()
