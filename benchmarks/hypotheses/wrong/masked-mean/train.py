"""Which words of a sentence are names (tagging), with padding."""

import torch
from torch import nn
from torch.nn import functional

VOCABULARY, LONGEST, WIDTH, TAGS, PAD = 60, 14, 32, 3, 0
BATCH_SIZE, EPOCHS = 50, 8


def sentences(rows, seed):
    """A tag depends on the word and on the one before it."""
    rules = torch.randint(0, TAGS, (VOCABULARY, 4), generator=torch.Generator().manual_seed(9))
    generator = torch.Generator().manual_seed(seed)
    words = torch.randint(1, VOCABULARY, (rows, LONGEST), generator=generator)
    tags = rules[words, words.roll(1, 1) % 4]
    noisy = torch.rand(rows, LONGEST, generator=generator) < 0.05
    tags = torch.where(noisy, torch.randint(0, TAGS, (rows, LONGEST), generator=generator), tags)
    lengths = torch.randint(4, LONGEST + 1, (rows, 1), generator=generator)
    words[torch.arange(LONGEST) >= lengths] = PAD
    return words, tags


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH, padding_idx=PAD)
        self.memory = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.head = nn.Linear(WIDTH, TAGS)

    def forward(self, words):
        return self.head(self.memory(self.embed(words))[0])


def tagging_loss(outputs, tags, words):
    kept = (words != PAD).float()
    losses = functional.cross_entropy(outputs.transpose(1, 2), tags, reduction="none")
    return (losses * kept).sum() / kept.sum()


def main():
    torch.manual_seed(0)
    words, tags = sentences(800, 1)
    test_words, test_tags = sentences(300, 2)
    model = Tagger()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(EPOCHS):
        for rows in torch.randperm(len(words)).split(BATCH_SIZE):
            loss = tagging_loss(model(words[rows]), tags[rows], words[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            right = (model(test_words).argmax(2) == test_tags)[test_words != PAD]
        print(f"epoch {epoch} loss {loss.item():.4f} test accuracy {right.float().mean().item():.4f}")


if __name__ == "__main__":
    main()
