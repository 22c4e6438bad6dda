"""Chunks and words of a whole repository with the text behind them: what every step of the search reads."""

import ast
import gc
import re
from array import array
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath

import numpy as np
from numpy.typing import NDArray

from reenact.bug.context.chunk import Chunk, cut
from reenact.bug.context.words import count_words
from reenact.bug.project.codebase import Class, Codebase, Function
from reenact.bug.project.files import ProjectFiles
from reenact.codegen.syntax import Definition
from reenact.errors import InputError
from reenact.types import Progress, Tell, tell_nobody

MOST_CHARACTERS = 20_000
"""So much of one chunk is searched: longer ones are tables."""
SIGNS = (
    *("sess.run", "session.run", ".fit(", "fit_generator", "train_on_batch", "apply_gradients", ".minimize("),
    *("GradientTape", "tape.gradient", ".backward(", "zero_grad", "loss.item", "training_step"),
)
"""Words without which a file holds no training loop; looked for before it is parsed again."""
_SIGN = re.compile("|".join(re.escape(sign) for sign in SIGNS))
_LOADER, _MOVED = re.compile(r"loader\b|dataset\b|batches\b", re.IGNORECASE), re.compile(r"\.(?:to|cuda)\(")


class Postings:
    """For each word the numbers of the chunks that hold it, and how often they do."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[array[int], array[int]]] = {}
        self._lengths = array("i")

    def add(self, text: str) -> None:
        """The words of the next chunk."""
        counted = count_words(text)
        number = len(self._lengths)
        self._lengths.append(sum(counted.values()))
        for word, times in counted.items():
            if word not in self._found:
                self._found[word] = (array("i"), array("i"))
            chunks, counts = self._found[word]
            chunks.append(number)
            counts.append(times)

    @property
    def words(self) -> Collection[str]:
        return self._found.keys()

    @cached_property
    def lengths(self) -> NDArray[np.int32]:
        """Words of each chunk, every one counted."""
        return np.array(self._lengths, dtype=np.int32)

    def of(self, word: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Chunks that hold a word, and how often."""
        chunks, counts = self._found.get(word, ((), ()))
        return np.array(chunks, dtype=np.int32), np.array(counts, dtype=np.int32)

    def spread(self, word: str) -> int:
        """How many chunks hold a word."""
        return len(self._found.get(word, ((), ()))[0])


@dataclass
class CodeIndex:
    """A repository made searchable. Nodes are found when they are asked for and then kept."""

    files: ProjectFiles
    signs: frozenset[PurePosixPath]
    """Files in which a word of training stands."""
    chunks: tuple[Chunk, ...]
    postings: Postings
    _nodes: dict[PurePosixPath, list[ast.AST]] = field(default_factory=dict, repr=False)
    _docstrings: dict[PurePosixPath, frozenset[int]] = field(default_factory=dict, repr=False)

    @cached_property
    def project(self) -> Codebase:
        """Names through imports and re-exports."""
        return Codebase(self.files)

    @cached_property
    def by_file(self) -> Mapping[PurePosixPath, list[Chunk]]:
        """Chunks of each file, in order."""
        found: dict[PurePosixPath, list[Chunk]] = {}
        for chunk in self.chunks:
            found.setdefault(chunk.path, []).append(chunk)
        return found

    @cached_property
    def by_name(self) -> Mapping[str, list[Chunk]]:
        """Chunks by the last part of each name that they define."""
        found: dict[str, list[Chunk]] = {}
        for chunk in self.chunks:
            for name in {name.rpartition(".")[2] for name in chunk.defines}:
                found.setdefault(name, []).append(chunk)
        return found

    def at(self, path: PurePosixPath, line: int) -> Chunk | None:
        """The chunk that holds a line of a file."""
        return next((one for one in self.by_file.get(path, ()) if line in one), None)

    def place(self, found: Class | Function) -> Chunk | None:
        """The chunk of a definition."""
        path = self.files.modules.get(found.module)
        return self.at(path, found.node.lineno) if path is not None else None

    def holding(self, word: str) -> list[Chunk]:
        """Chunks that hold a word, in order."""
        return [self.chunks[number] for number in self.postings.of(word)[0].tolist()]

    def nodes(self, chunk: Chunk) -> list[ast.AST]:
        """Every node of a chunk."""
        path = chunk.path
        if path not in self._nodes:
            self._nodes[path] = [one for one in self.files.nodes(path) if hasattr(one, "lineno")]
        return [one for one in self._nodes[path] if one.lineno in chunk]  # type: ignore[attr-defined]

    def docstrings(self, chunk: Chunk) -> list[int]:
        """Lines of long docstrings in a chunk, but the first ones of each."""
        path = chunk.path
        if path not in self._docstrings:
            self._docstrings[path] = frozenset(_docstring_lines(self.files.nodes(path)))
        return [line for line in self._docstrings[path] if line in chunk]


def build_index(files: ProjectFiles, tell: Tell = tell_nobody) -> CodeIndex:
    """Cut and count every file."""
    if not files.texts:
        raise InputError(
            f"No Python file below {files.folder} can be read.", next_step="Check the repository."
        )
    chunks: list[Chunk] = []
    postings = Postings()
    with _no_collection():
        for number, (path, text) in enumerate(files.texts.items()):
            for chunk in cut(path, text, len(chunks)):
                # Names of file and class are words of every method: `forward` alone says nothing.
                postings.add("\n".join([str(path), chunk.name, chunk.text])[:MOST_CHARACTERS])
                chunks.append(chunk)
            if number % 100 == 0:
                tell(Progress("index", number, len(files.texts)))
    signs = frozenset(
        path
        for path, text in files.texts.items()
        if _SIGN.search(text) or (_LOADER.search(text) and _MOVED.search(text))
    )
    return CodeIndex(files, signs, tuple(chunks), postings)


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


def _docstring_lines(nodes: Iterator[ast.AST]) -> Iterator[int]:
    for node in nodes:
        if not isinstance(node, Definition):
            continue
        first = node.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            yield from range(first.lineno + 3, (first.end_lineno or first.lineno) + 1)
