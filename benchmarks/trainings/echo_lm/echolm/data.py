from dataclasses import dataclass

import torch


@dataclass
class Corpus:
    vocab: int
    phrase: int
    train: torch.Tensor
    test: torch.Tensor

    @property
    def length(self):
        return 2 * self.phrase + 1


def make_corpus(vocab=700, phrase=6, n_train=240, n_test=300, seed=0):
    """phrase, <again>, phrase. Word 0 is <again>; the words of a phrase are drawn with a Zipf-like law."""
    gen = torch.Generator().manual_seed(seed)
    weight = 1.0 / torch.arange(8, vocab + 7, dtype=torch.float)
    words = torch.multinomial(weight, (n_train + n_test) * phrase, replacement=True, generator=gen) + 1
    words = words.view(-1, phrase)
    again = torch.zeros(len(words), 1, dtype=torch.long)
    rows = torch.cat([words, again, words], dim=1)
    return Corpus(vocab, phrase, rows[:n_train], rows[n_train:])


def batches(rows, size, generator):
    for idx in torch.randperm(len(rows), generator=generator).split(size):
        yield rows[idx]
