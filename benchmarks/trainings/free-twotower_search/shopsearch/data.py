"""Synthetic click log: (query tokens, clicked product) pairs with a long-tailed catalogue."""
from dataclasses import dataclass

import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class ClickLog:
    tokens: torch.Tensor
    product: torch.Tensor
    brand: torch.Tensor
    price: torch.Tensor
    n_tokens: int

    @property
    def n_products(self):
        return len(self.brand)


def simulate(seed, n_clicks, n_products=1200, n_topics=24, n_brands=40, vocab=400, query_len=4):
    rng = np.random.default_rng(seed)
    topic = rng.integers(n_topics, size=n_products)
    brand = rng.integers(n_brands, size=n_products)
    price = rng.normal(size=n_products)
    popularity = rng.permutation(1.0 / np.arange(1, n_products + 1) ** 0.9)

    topic_words = rng.dirichlet(np.full(vocab, 0.03), size=n_topics)
    brand_word = rng.integers(vocab, size=n_brands)

    wanted_topic = rng.integers(n_topics, size=n_clicks)
    wanted_brand = np.where(rng.random(n_clicks) < 0.3, rng.integers(n_brands, size=n_clicks), -1)
    tokens = np.empty((n_clicks, query_len), dtype=np.int64)
    for t in range(n_topics):
        rows = wanted_topic == t
        tokens[rows] = rng.choice(vocab, size=(rows.sum(), query_len), p=topic_words[t])
    named = wanted_brand >= 0
    tokens[named, -1] = brand_word[wanted_brand[named]]

    product = np.empty(n_clicks, dtype=np.int64)
    for i in range(n_clicks):
        match = np.where(topic == wanted_topic[i], 1.0, 0.002)
        if wanted_brand[i] >= 0:
            match = match * np.where(brand == wanted_brand[i], 12.0, 1.0)
        weight = np.cumsum(match * popularity)
        product[i] = np.searchsorted(weight, rng.random() * weight[-1])
    return ClickLog(
        torch.from_numpy(tokens), torch.from_numpy(product), torch.from_numpy(brand),
        torch.from_numpy(price).float(), vocab,
    )


def loaders(log, batch_size, holdout=0.15):
    cut = int(len(log.product) * (1 - holdout))
    train = TensorDataset(log.tokens[:cut], log.product[:cut])
    valid = TensorDataset(log.tokens[cut:], log.product[cut:])
    counts = torch.bincount(log.product[:cut], minlength=log.n_products).float()
    sampling_prob = (counts + 0.5) / (counts + 0.5).sum()
    return (
        DataLoader(train, batch_size=batch_size, shuffle=True, drop_last=True),
        DataLoader(valid, batch_size=1024),
        sampling_prob,
    )
