"""The next letter of made-up words, by a small recurrent language model."""

import torch
from torch import nn
from torch.nn import functional

LETTERS, LENGTH, WIDTH = 20, 16, 32
BATCH_SIZE, EPOCHS = 50, 6


def words(rows, seed):
    """Each letter depends on the two before it."""
    rules = torch.randn(LETTERS, LETTERS, LETTERS, generator=torch.Generator().manual_seed(7))
    habits = torch.softmax(2.5 * rules, 2)
    generator = torch.Generator().manual_seed(seed)
    text = torch.randint(0, LETTERS, (rows, 2), generator=generator)
    for _ in range(LENGTH - 1):
        chances = habits[text[:, -2], text[:, -1]]
        text = torch.cat([text, torch.multinomial(chances, 1, generator=generator)], 1)
    return text


class Speller(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(LETTERS, WIDTH)
        self.memory = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.head = nn.Linear(WIDTH, LETTERS, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, text):
        return self.head(self.memory(self.embed(text))[0])


def nll(model, text):
    return functional.cross_entropy(model(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten())


def main():
    torch.manual_seed(0)
    text, test_text = words(1500, 1), words(400, 2)
    model = Speller()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(EPOCHS):
        for rows in torch.randperm(len(text)).split(BATCH_SIZE):
            loss = nll(model, text[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            perplexity = nll(model, test_text).exp().item()
        print(f"epoch {epoch} loss {loss.item():.4f} test perplexity {perplexity:.4f}")


if __name__ == "__main__":
    main()
