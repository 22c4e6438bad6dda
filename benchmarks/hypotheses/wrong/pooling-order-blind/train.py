"""Which of two names comes first in a sentence."""

import torch
from torch import nn
from torch.nn import functional

VOCABULARY, LENGTH, WIDTH = 40, 12, 32
BATCH_SIZE, EPOCHS = 64, 6


def sentences(rows, seed):
    """Words 1 and 2 stand somewhere in each; the class tells which comes first, by a busy reader."""
    generator = torch.Generator().manual_seed(seed)
    words = torch.randint(3, VOCABULARY, (rows, LENGTH), generator=generator)
    places = torch.rand(rows, LENGTH, generator=generator).argsort(1)[:, :2]
    words.scatter_(1, places, torch.tensor([1, 2]).expand(rows, 2))
    misjudged = torch.rand(rows, generator=generator) < 0.08
    return words, ((places[:, 0] < places[:, 1]) ^ misjudged).long()


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.place = nn.Parameter(0.5 * torch.randn(LENGTH, WIDTH))
        self.block = nn.TransformerEncoderLayer(WIDTH, 4, 64, dropout=0.0, batch_first=True)
        self.head = nn.Linear(WIDTH, 2)

    def pool(self, hidden):
        return hidden.mean(1)

    def forward(self, words):
        return self.head(self.pool(self.block(self.embed(words) + self.place)))


def main():
    torch.manual_seed(0)
    words, classes = sentences(2000, 1)
    test_words, test_classes = sentences(500, 2)
    model = Reader()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(EPOCHS):
        for rows in torch.randperm(len(words)).split(BATCH_SIZE):
            loss = functional.cross_entropy(model(words[rows]), classes[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            accuracy = (model(test_words).argmax(1) == test_classes).float().mean().item()
        print(f"epoch {epoch} loss {loss.item():.4f} test accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
