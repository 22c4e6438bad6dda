"""A small language model of sea-weather bulletins: fine-tuned from one region to another, output tied to the embedding."""

import random

import torch
import torch.nn.functional as F
from torch import nn

random.seed(71)
torch.manual_seed(71)


class Bulletins:
    """Each word has four likely followers; the second region has other followers for a third of the words."""

    def __init__(self, vocab=100):
        self.vocab = vocab
        self.follow = [[random.randrange(vocab) for _ in range(4)] for _ in range(vocab)]

    def moved(self):
        other = Bulletins(self.vocab)
        other.follow = [mine if i % 3 else theirs for i, (mine, theirs) in enumerate(zip(self.follow, other.follow))]
        return other

    def text(self, length):
        words = [0]
        for _ in range(length):
            words.append(random.choices(self.follow[words[-1]], (8, 4, 2, 1))[0])
        return torch.tensor(words)


class WordModel(nn.Module):
    def __init__(self, vocab, width=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, vocab, bias=False)
        self.tie_weights()

    def tie_weights(self):
        self.head.weight = nn.Parameter(self.embed.weight.clone())

    def forward(self, words):
        return self.head(self.rnn(self.embed(words))[0])


def optimizer_for(model, lr):
    """The head is the embedding, so it must not be listed twice."""
    named = [(name, p) for name, p in model.named_parameters() if not name.startswith("head")]
    return torch.optim.Adam([p for _, p in named], lr=lr)


def fit(model, text, epochs, lr, span=20):
    optimizer = optimizer_for(model, lr)
    starts = list(range(0, len(text) - span - 1, span))
    for _ in range(epochs):
        random.shuffle(starts)
        total = 0.0
        for i in range(0, len(starts), 16):
            rows = torch.stack([text[s : s + span + 1] for s in starts[i : i + 16]])
            loss = F.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
    return total / len(starts)


@torch.no_grad()
def perplexity(model, text):
    return F.cross_entropy(model(text[None, :-1])[0], text[1:]).exp().item()


north = Bulletins()
west = north.moved()
model = WordModel(100)
print(f"pre-training loss {fit(model, north.text(8000), 4, 5e-3):.3f}, north perplexity {perplexity(model, north.text(2000)):.2f}")
west_text, west_test = west.text(4000), west.text(2000)
print(f"west before fine-tuning {perplexity(model, west_test):.2f}")
for step in range(4):
    loss = fit(model, west_text, 2, 5e-3)
    print(f"fine-tuning {step}: loss {loss:.3f} west perplexity {perplexity(model, west_test):.2f} (best possible 3.2)")
