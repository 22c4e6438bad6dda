import torch
from torch.utils.data import DataLoader

from .vocab import PAD, make_reviews

MAX_LEN = 100


def collate_dynamic(rows):
    width = max(len(tokens) for tokens, _ in rows)
    return _pad(rows, width)


def collate_fixed(rows):
    return _pad(rows, MAX_LEN)


def _pad(rows, width):
    tokens = torch.full((len(rows), width), PAD)
    for i, (ids, _) in enumerate(rows):
        tokens[i, : len(ids)] = torch.tensor(ids)
    labels = torch.tensor([label for _, label in rows], dtype=torch.float32)
    return tokens, labels


def train_loader(n, batch_size, seed):
    rows = sorted(make_reviews(n, seed), key=lambda r: len(r[0]))
    buckets = [rows[i : i + batch_size] for i in range(0, len(rows), batch_size)]
    order = torch.randperm(len(buckets)).tolist()
    return DataLoader([buckets[i] for i in order], batch_size=None, shuffle=True, collate_fn=collate_dynamic)


def eval_loader(n, batch_size, seed):
    return DataLoader(make_reviews(n, seed), batch_size=batch_size, collate_fn=collate_fixed)
