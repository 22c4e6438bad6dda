"""Chunks and words of a whole repository: what every search reads. Built once for one content.

It is kept on disk under the name of its content: no pickle, whole or not at all, two may write.
"""

from __future__ import annotations

import gc
import hashlib
import io
import json
import os
import re
import secrets
import zipfile
from array import array
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reenact.bug.context.chunk import Chunk, cut
from reenact.bug.context.source import Source, Sources
from reenact.bug.context.words import count_words
from reenact.journal.storage import make_folder, write_whole

VERSION = 1
"""Raised whenever the same sources would be indexed differently."""
MOST_CHARACTERS = 20_000
"""So much of one chunk is searched: longer ones are tables."""
SIGNS = (
    *("sess.run", "session.run", ".fit(", "fit_generator", "train_on_batch", "apply_gradients", ".minimize("),
    *("GradientTape", "tape.gradient", ".backward(", "zero_grad", "loss.item", "training_step"),
)
"""Words without which a file holds no training loop; looked for before it is parsed again."""
_SIGN = re.compile("|".join(re.escape(sign) for sign in SIGNS))
_LOADER, _MOVED = re.compile(r"loader\b|dataset\b|batches\b", re.IGNORECASE), re.compile(r"\.(?:to|cuda)\(")
_ASIDE = re.compile(
    r"(?:^|/)(?:tests?|testing|examples?|docs?|tutorials?|benchmarks?|scripts|tools|ci)(?:/|$)"
    r"|(?:^|/)(?:test_[^/]*|[^/]*_test|conftest|setup)\.py$"
)


@dataclass(frozen=True, slots=True)
class Postings:
    """For each word the chunks that hold it, word after word."""

    words: Mapping[str, int]
    starts: NDArray[np.int64]
    """Where a word's chunks begin; one more than there are words."""
    chunks: NDArray[np.int32]
    counts: NDArray[np.int32]
    lengths: NDArray[np.int32]
    """Words of each chunk, every one counted."""

    def of(self, word: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Chunks that hold a word, and how often."""
        number = self.words.get(word)
        if number is None:
            return self.chunks[:0], self.counts[:0]
        at = slice(int(self.starts[number]), int(self.starts[number + 1]))
        return self.chunks[at], self.counts[at]


@dataclass(frozen=True)
class Index:
    """A repository made searchable."""

    paths: tuple[PurePosixPath, ...]
    signs: frozenset[int]
    """Files in which a word of training stands."""
    chunks: tuple[Chunk, ...]
    postings: Postings
    left_out: tuple[str, ...]

    @cached_property
    def by_file(self) -> Mapping[int, tuple[int, ...]]:
        """Chunks of each file, in order."""
        found: dict[int, list[int]] = {}
        for number, chunk in enumerate(self.chunks):
            found.setdefault(chunk.file, []).append(number)
        return {file: tuple(numbers) for file, numbers in found.items()}

    @cached_property
    def by_name(self) -> Mapping[str, tuple[int, ...]]:
        """Chunks by the last part of each name that they define."""
        found: dict[str, list[int]] = {}
        for number, chunk in enumerate(self.chunks):
            for name in {name.rpartition(".")[2] for name in chunk.defines}:
                found.setdefault(name, []).append(number)
        return {name: tuple(numbers) for name, numbers in found.items()}

    @cached_property
    def file_of(self) -> Mapping[PurePosixPath, int]:
        return {path: number for number, path in enumerate(self.paths)}

    def path(self, chunk: int) -> PurePosixPath:
        return self.paths[self.chunks[chunk].file]

    def at(self, path: PurePosixPath, line: int) -> int | None:
        """The chunk that holds a line of a file."""
        file = self.file_of.get(path)
        numbers = self.by_file.get(file, ()) if file is not None else ()
        return next((one for one in numbers if self.chunks[one].first <= line <= self.chunks[one].last), None)

    def is_aside(self, chunk: int) -> bool:
        """Whether it is a test, an example or a tool: code about the project, not the project."""
        return bool(_ASIDE.search(str(self.path(chunk))))


def content_key(sources: Sources) -> str:
    """One name for the content of all files and for the way they are indexed."""
    total = hashlib.sha256(f"context index {VERSION}\n".encode())
    for source in sources.files:
        total.update(f"{source.path}\0{source.digest}\n".encode("utf-8", "surrogateescape"))
    for line in sources.left_out:
        total.update(f"-{line}\n".encode("utf-8", "surrogateescape"))
    return total.hexdigest()


def build_index(sources: Sources, tell: Callable[[int], None] | None = None) -> Index:
    """Cut and count every file. `tell` hears how many are done."""
    gathered = _Gathered()
    with _no_collection():
        for number, source in enumerate(sources.files):
            gathered.add(source, number)
            if tell is not None and number % 100 == 0:
                tell(number)
    return Index(
        tuple(source.path for source in sources.files),
        frozenset(gathered.signs),
        tuple(gathered.chunks),
        gathered.postings(),
        sources.left_out,
    )


@contextmanager
def _no_collection() -> Iterator[None]:
    """Syntax trees are many small objects without cycles: looking for cycles takes a fifth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Gathered:
    """Words on their way into postings."""

    def __init__(self) -> None:
        self.chunks: list[Chunk] = []
        self.signs: list[int] = []
        self._words: dict[str, int] = {}
        self._columns: dict[str, array[int]] = {name: array("i") for name in ("word", "chunk", "count")}
        self._lengths = array("i")

    def add(self, source: Source, number: int) -> None:
        text = source.text()
        if _SIGN.search(text) or (_LOADER.search(text) and _MOVED.search(text)):
            self.signs.append(number)
        lines = text.split("\n")
        for chunk in cut(text, number):
            # Names of file and class are words of every method: `forward` alone says nothing.
            told = "\n".join([str(source.path), chunk.name, *lines[chunk.first - 1 : chunk.last]])
            self._count(told[:MOST_CHARACTERS])
            self.chunks.append(chunk)

    def _count(self, text: str) -> None:
        counted = count_words(text)
        number = len(self._lengths)
        self._lengths.append(sum(counted.values()))
        known = self._words
        self._columns["word"].extend([known.setdefault(word, len(known)) for word in counted])
        self._columns["chunk"].extend([number] * len(counted))
        self._columns["count"].extend(counted.values())

    def postings(self) -> Postings:
        columns: dict[str, Any] = {
            name: np.array(values, dtype=np.int32) for name, values in self._columns.items()
        }
        order = np.argsort(columns["word"], kind="stable")
        sizes = np.bincount(columns["word"], minlength=len(self._words))
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        lengths = np.array(self._lengths, dtype=np.int32)
        return Postings(self._words, starts, columns["chunk"][order], columns["count"][order], lengths)


_ARRAYS = ("starts", "chunks", "counts", "lengths")
_UNREADABLE = (OSError, ValueError, KeyError, TypeError, IndexError, EOFError, zipfile.BadZipFile)


def index_file(folder: Path, key: str) -> Path:
    """Where the index of that content lies."""
    return folder / f"{key}.npz"


def save_index(folder: Path, key: str, index: Index) -> None:
    """Write the index. Whoever writes the same key writes the same content, so the last one may win."""
    stream = io.BytesIO()
    arrays: dict[str, Any] = {name: getattr(index.postings, name) for name in _ARRAYS}
    np.savez(stream, words=_packed(_stored_words(index)), **arrays)
    make_folder(folder)
    temporary = folder / f".{key}.{os.getpid()}.{secrets.token_hex(4)}.part"
    write_whole(index_file(folder, key), stream.getvalue(), temporary=temporary)


def load_index(folder: Path, key: str) -> Index | None:
    """The index of that content; none when it is not there or cannot be read, so that it is built again."""
    try:
        with np.load(index_file(folder, key), allow_pickle=False) as stored:
            told = json.loads(stored["words"].tobytes())
            arrays = {name: stored[name] for name in _ARRAYS}
        index = _read_index(told, arrays)
    except _UNREADABLE:
        return None
    return index if len(index.chunks) == len(index.postings.lengths) else None


def _packed(told: dict[str, Any]) -> Any:
    return np.frombuffer(json.dumps(told, ensure_ascii=True).encode(), dtype=np.uint8)


def _stored_words(index: Index) -> dict[str, Any]:
    chunks = [
        [one.file, one.kind, one.name, one.first, one.last, one.defines, one.parameters]
        for one in index.chunks
    ]
    return {
        "paths": [str(path) for path in index.paths],
        "signs": sorted(index.signs),
        "chunks": chunks,
        "words": list(index.postings.words),
        "left_out": index.left_out,
    }


def _read_index(told: dict[str, Any], arrays: dict[str, Any]) -> Index:
    chunks = tuple(
        Chunk(file, kind, name, first, last, tuple(defines), tuple(parameters))
        for file, kind, name, first, last, defines, parameters in told["chunks"]
    )
    words = {word: number for number, word in enumerate(told["words"])}
    return Index(
        tuple(PurePosixPath(path) for path in told["paths"]),
        frozenset(told["signs"]),
        chunks,
        Postings(words, **arrays),
        tuple(told["left_out"]),
    )
