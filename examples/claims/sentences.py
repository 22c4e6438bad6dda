"""Finds sentences of middling words. Sentences differ in length and are padded with 0."""

import torch
from torch import nn

WORDS = 20
LONGEST = 60


def sentences(count):
    """Numbers of words, and whether their mean is neither low nor high."""
    lengths = torch.randint(2, LONGEST + 1, (count, 1))
    lowest = torch.randint(1, 11, (count, 1))
    words = lowest + torch.randint(0, 10, (count, LONGEST))
    words = words * (torch.arange(LONGEST) < lengths)
    means = words.sum(1) / lengths.squeeze(1)
    return words, ((means - 10).abs() < 2).long()


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, 16, padding_idx=0)
        self.hidden = nn.Linear(16, 16)
        self.output = nn.Linear(16, 2)

    def forward(self, words):
        sentence = self.embed(words).mean(1)
        return self.output(self.hidden(sentence).relu())


def main():
    train, labels = sentences(600)
    test, expected = sentences(400)
    model = Classifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(4):
        for batch in torch.randperm(600).split(50):
            loss = nn.functional.cross_entropy(model(train[batch]), labels[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            accuracy = (model(test).argmax(1) == expected).float().mean().item()
        print(f"epoch {epoch} test_accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
