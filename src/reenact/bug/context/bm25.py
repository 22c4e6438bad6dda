"""BM25 over the words of chunks (k1 1.2, b 0.75, as RepGen sets them)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from reenact.bug.context.index import Postings

K1 = 1.2
B = 0.75
MOST_TIMES = 3.0
"""A word repeated in a report is no proof: log lines would outvote the title."""


def bm25(postings: Postings, query: Mapping[str, float]) -> NDArray[np.float64]:
    """A score for every chunk; the query's words with their weights."""
    total = len(postings.lengths)
    scores = np.zeros(total, dtype=np.float64)
    if not total:
        return scores
    mean = max(1.0, float(postings.lengths.mean()))
    norms = K1 * (1 - B + B * postings.lengths / mean)
    for word in sorted(query):
        chunks, counts = postings.of(word)
        rarity = np.log(1 + (total - len(chunks) + 0.5) / (len(chunks) + 0.5))
        gained = counts * (K1 + 1) / (counts + norms[chunks])
        scores[chunks] += min(query[word], MOST_TIMES) * rarity * gained
    return scores
