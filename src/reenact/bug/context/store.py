"""Keeps an index on disk under the name of its content: no pickle, whole or not at all, two may write."""

from __future__ import annotations

import io
import json
import os
import secrets
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from reenact.bug.context.chunk import Chunk
from reenact.bug.context.index import Index, Postings
from reenact.journal.storage import make_folder, write_whole

_ARRAYS = ("starts", "chunks", "counts", "lengths")
_UNREADABLE = (OSError, ValueError, KeyError, TypeError, IndexError, EOFError, zipfile.BadZipFile)


def place(folder: Path, key: str) -> Path:
    """Where the index of that content lies."""
    return folder / f"{key}.npz"


def save(folder: Path, key: str, index: Index) -> None:
    """Write the index. Whoever writes the same key writes the same content, so the last one may win."""
    stream = io.BytesIO()
    arrays: dict[str, Any] = {name: getattr(index.postings, name) for name in _ARRAYS}
    np.savez(stream, words=_packed(_words(index)), **arrays)
    make_folder(folder)
    temporary = folder / f".{key}.{os.getpid()}.{secrets.token_hex(4)}.part"
    write_whole(place(folder, key), stream.getvalue(), temporary=temporary)


def load(folder: Path, key: str) -> Index | None:
    """The index of that content; none when it is not there or cannot be read, so that it is built again."""
    try:
        with np.load(place(folder, key), allow_pickle=False) as stored:
            told = json.loads(stored["words"].tobytes())
            arrays = {name: stored[name] for name in _ARRAYS}
        index = _index(told, arrays)
    except _UNREADABLE:
        return None
    return index if len(index.chunks) == len(index.postings.lengths) else None


def _packed(told: dict[str, Any]) -> Any:
    return np.frombuffer(json.dumps(told, ensure_ascii=True).encode(), dtype=np.uint8)


def _words(index: Index) -> dict[str, Any]:
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


def _index(told: dict[str, Any], arrays: dict[str, Any]) -> Index:
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
