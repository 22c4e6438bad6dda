"""Chunks and words of a whole repository with the text behind them: what every step of the search reads.

Chunks and words are kept on disk under the name of their content: no pickle, whole or not at all, two
processes may write.
"""

from __future__ import annotations

import ast
import gc
import hashlib
import io
import os
import re
import secrets
import zipfile
from array import array
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from reenact.bug.context.chunk import Chunk, cut
from reenact.bug.context.words import count_words
from reenact.bug.project.codebase import Class, Codebase, Function
from reenact.bug.project.files import ProjectFiles
from reenact.codegen.syntax import Definition
from reenact.errors import InputError
from reenact.journal.storage import make_folder, write_whole
from reenact.types import Progress, Tell, tell_nobody

VERSION = 2
"""Raised whenever the same sources would be indexed or stored differently."""
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


@dataclass
class CodeIndex:
    """A repository made searchable. Lines and nodes are found when they are asked for and then kept."""

    files: ProjectFiles
    signs: frozenset[int]
    """Files in which a word of training stands."""
    chunks: tuple[Chunk, ...]
    postings: Postings
    _lines: dict[PurePosixPath, list[str]] = field(default_factory=dict, repr=False)
    _nodes: dict[PurePosixPath, list[ast.AST]] = field(default_factory=dict, repr=False)
    _docstrings: dict[PurePosixPath, frozenset[int]] = field(default_factory=dict, repr=False)

    @cached_property
    def paths(self) -> tuple[PurePosixPath, ...]:
        return self.files.paths

    @cached_property
    def project(self) -> Codebase:
        """Names through imports and re-exports."""
        return Codebase(self.files)

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
        numbers = self.by_file.get(self.file_of.get(path, -1), ())
        return next((one for one in numbers if line in self.chunks[one]), None)

    def place(self, found: Class | Function) -> tuple[PurePosixPath, int] | None:
        """The file of a definition, and its chunk."""
        path = self.files.modules.get(found.module)
        number = self.at(path, found.node.lineno) if path is not None else None
        return (path, number) if path is not None and number is not None else None

    def is_aside(self, chunk: int) -> bool:
        """Whether it is a test, an example or a tool: code about the project, not the project."""
        return bool(_ASIDE.search(str(self.path(chunk))))

    def lines(self, path: PurePosixPath) -> list[str]:
        """The lines of a file; line n stands at n - 1."""
        if path not in self._lines:
            self._lines[path] = self.files.texts[path].split("\n")
        return self._lines[path]

    def text(self, number: int) -> str:
        """The lines of a chunk."""
        chunk = self.chunks[number]
        return "\n".join(self.lines(self.path(number))[chunk.first - 1 : chunk.last])

    def nodes(self, number: int) -> list[ast.AST]:
        """Every node of a chunk."""
        path = self.path(number)
        if path not in self._nodes:
            self._nodes[path] = [one for one in self.files.nodes(path) if hasattr(one, "lineno")]
        return [one for one in self._nodes[path] if one.lineno in self.chunks[number]]  # type: ignore[attr-defined]

    def docstrings(self, path: PurePosixPath) -> frozenset[int]:
        """Lines of long docstrings, but the first ones of each."""
        if path not in self._docstrings:
            self._docstrings[path] = frozenset(_docstring_lines(self.files.nodes(path)))
        return self._docstrings[path]


def open_index(files: ProjectFiles, kept: Path | None, tell: Tell = tell_nobody) -> CodeIndex:
    """The index of a project: the stored one of the same content, or a new one."""
    if not files.texts:
        raise InputError(
            f"No Python file below {files.folder} can be read.", next_step="Check the repository."
        )
    stored = load_index(kept, files) if kept is not None else None
    if stored is not None:
        return stored
    made = build_index(files, lambda done: tell(Progress("index", done, len(files.texts))))
    if kept is not None:
        save_index(kept, made)
    return made


def build_index(files: ProjectFiles, tell: Callable[[int], None] = lambda _: None) -> CodeIndex:
    """Cut and count every file. `tell` gets how many are done."""
    chunks: list[Chunk] = []
    signs: list[int] = []
    counted = _WordCounts()
    with _no_collection():
        for number, (path, text) in enumerate(files.texts.items()):
            if _SIGN.search(text) or (_LOADER.search(text) and _MOVED.search(text)):
                signs.append(number)
            lines = text.split("\n")
            for chunk in cut(text, number):
                # Names of file and class are words of every method: `forward` alone says nothing.
                words = "\n".join([str(path), chunk.name, *lines[chunk.first - 1 : chunk.last]])
                counted.add(words[:MOST_CHARACTERS])
                chunks.append(chunk)
            if number % 100 == 0:
                tell(number)
    return CodeIndex(files, frozenset(signs), tuple(chunks), counted.postings())


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


class _WordCounts:
    """Words on their way into postings."""

    def __init__(self) -> None:
        self._words: dict[str, int] = {}
        self._columns: dict[str, array[int]] = {name: array("i") for name in ("word", "chunk", "count")}
        self._lengths = array("i")

    def add(self, text: str) -> None:
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
_STORED = TypeAdapter(tuple[frozenset[int], tuple[Chunk, ...], tuple[str, ...]])
"""Signs, chunks, and the words in the order of their numbers."""
_UNREADABLE = (OSError, ValueError, KeyError, EOFError, ValidationError, zipfile.BadZipFile)


def index_file(folder: Path, files: ProjectFiles) -> Path:
    """Where the index of that content lies."""
    key = hashlib.sha256("\n".join([f"index {VERSION}", files.digest, *files.left_out]).encode()).hexdigest()
    return folder / f"{key}.npz"


def save_index(folder: Path, index: CodeIndex) -> None:
    """Write the index. Whoever writes the same name writes the same content, so the last one may win."""
    words = _STORED.dump_json((index.signs, index.chunks, tuple(index.postings.words)))
    arrays: dict[str, Any] = {name: getattr(index.postings, name) for name in _ARRAYS}
    stream = io.BytesIO()
    np.savez(stream, words=np.frombuffer(words, dtype=np.uint8), **arrays)
    make_folder(folder)
    file = index_file(folder, index.files)
    temporary = folder / f".{file.stem}.{os.getpid()}.{secrets.token_hex(4)}.part"
    write_whole(file, stream.getvalue(), temporary=temporary)


def load_index(folder: Path, files: ProjectFiles) -> CodeIndex | None:
    """The index of that content; none when it is not there or cannot be read, so that it is built again."""
    try:
        with np.load(index_file(folder, files), allow_pickle=False) as stored:
            signs, chunks, words = _STORED.validate_json(stored["words"].tobytes())
            arrays = {name: stored[name] for name in _ARRAYS}
    except _UNREADABLE:
        return None
    numbers = {word: number for number, word in enumerate(words)}
    index = CodeIndex(files, signs, chunks, Postings(numbers, **arrays))
    return index if len(chunks) == len(index.postings.lengths) else None


def _docstring_lines(nodes: Iterator[ast.AST]) -> Iterator[int]:
    for node in nodes:
        if not isinstance(node, Definition):
            continue
        first = node.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            yield from range(first.lineno + 3, (first.end_lineno or first.lineno) + 1)
