import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

PAD = 0
N_WORDS = 120
TOPICS = 4


def make_tickets(n, seed):
    """Short tickets carry one or two keyword tokens among filler words; a few tickets are very long."""
    rng = np.random.default_rng(seed)
    docs, labels = [], []
    for _ in range(n):
        topic = rng.integers(TOPICS)
        length = int(rng.integers(4, 11)) if rng.random() < 0.96 else int(rng.integers(90, 120))
        words = rng.integers(1 + 10 * TOPICS, N_WORDS, size=length)
        for slot in rng.choice(length, size=2, replace=False):
            words[slot] = 1 + 10 * topic + rng.integers(10)
        if rng.random() < 0.5:
            other = rng.integers(TOPICS)
            words[rng.integers(length)] = 1 + 10 * other + rng.integers(10)
        docs.append(torch.as_tensor(words))
        labels.append(topic)
    return docs, torch.as_tensor(np.array(labels))


def collate(docs):
    ids = pad_sequence(docs, batch_first=True, padding_value=PAD)
    lengths = torch.tensor([len(d) for d in ids])
    pad_mask = torch.arange(ids.size(1))[None, :] >= lengths[:, None]
    return ids, pad_mask
