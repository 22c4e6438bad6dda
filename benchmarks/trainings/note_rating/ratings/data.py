"""Synthetic product notes: words carry a value, the rating is the mean over the note; `very` doubles the next word."""
import random

import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset, Sampler

SPECIALS = ["<unk>", "<pad>"]
UNK, PAD = 0, 1
VERY = 2
N_WORDS = 60


def word_values(seed=0):
    g = random.Random(seed)
    return {w: g.uniform(-1, 1) for w in range(3, 3 + N_WORDS)}


VALUES = word_values()
VOCAB_SIZE = 3 + N_WORDS


def make_note(g):
    length = int(round(4 + 44 * g.random() ** 3))
    tone = g.uniform(-1, 1)
    ids, values, factor = [], [], 1.0
    while len(ids) < length:
        if factor == 1.0 and g.random() < 0.1:
            ids.append(VERY)
            factor = 2.0
            continue
        word = min(g.sample(sorted(VALUES), 2), key=lambda w: abs(VALUES[w] - tone))
        ids.append(word)
        values.append(VALUES[word] * factor)
        factor = 1.0
    return ids, sum(values) / max(1, len(values))


class Notes(Dataset):
    def __init__(self, n, seed):
        g = random.Random(seed)
        self.items = [make_note(g) for _ in range(n)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    ids = pad_sequence([torch.tensor(i) for i, _ in batch], batch_first=True, padding_value=PAD)
    score = torch.tensor([s for _, s in batch], dtype=torch.float32)
    return ids, ids.ne(0), score


class LengthBatches(Sampler):
    """Batches of notes of similar length, in random order."""

    def __init__(self, dataset, batch_size, seed):
        self.dataset, self.batch_size = dataset, batch_size
        self.rng = random.Random(seed)

    def __len__(self):
        return (len(self.dataset) + self.batch_size - 1) // self.batch_size

    def __iter__(self):
        jitter = [len(ids) + self.rng.random() for ids, _ in self.dataset.items]
        order = sorted(range(len(jitter)), key=jitter.__getitem__)
        batches = [order[i:i + self.batch_size] for i in range(0, len(order), self.batch_size)]
        self.rng.shuffle(batches)
        return iter(batches)
