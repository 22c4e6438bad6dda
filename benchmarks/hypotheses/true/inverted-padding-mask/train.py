"""Whether a review is friendly, by attention over its words."""

import torch
from torch import nn
from torch.nn import functional

VOCABULARY, LONGEST, WIDTH, PAD = 80, 16, 24, 0
BATCH_SIZE, EPOCHS = 64, 8


def reviews(rows, seed):
    """Friendly where more of its words are from the first half of the vocabulary."""
    generator = torch.Generator().manual_seed(seed)
    words = torch.randint(1, VOCABULARY, (rows, LONGEST), generator=generator)
    lengths = torch.randint(3, LONGEST, (rows, 1), generator=generator)
    words[torch.arange(LONGEST) >= lengths] = PAD
    tone = ((words > 0) & (words <= VOCABULARY // 2)).sum(1) * 2 - lengths.squeeze(1)
    friendly = tone + 0.1 * torch.randn(rows, generator=generator) > 0
    return words, friendly.long()


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.score = nn.Linear(WIDTH, 1)
        self.head = nn.Linear(WIDTH, 2)

    def forward(self, words):
        hidden = torch.tanh(self.embed(words))
        scores = self.score(hidden).squeeze(2)
        scores = scores.masked_fill(words != PAD, -1e9)
        weights = scores.softmax(1)
        return self.head((weights[:, :, None] * hidden).sum(1))


def main():
    torch.manual_seed(0)
    words, friendly = reviews(1500, 1)
    test_words, test_friendly = reviews(600, 2)
    model = Reader()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(EPOCHS):
        for rows in torch.randperm(len(words)).split(BATCH_SIZE):
            loss = functional.cross_entropy(model(words[rows]), friendly[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            accuracy = (model(test_words).argmax(1) == test_friendly).float().mean().item()
        print(f"epoch {epoch} loss {loss.item():.4f} test accuracy {accuracy:.4f}")


if __name__ == "__main__":
    main()
