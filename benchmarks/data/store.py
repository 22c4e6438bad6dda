"""Arrays on disk: written whole or not at all; known by their shapes at once, by their digest
when asked.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reenact.errors import InputError
from reenact.journal.storage import make_folder, storage_named

Arrays: TypeAlias = Mapping[str, NDArray[Any]]
Shapes: TypeAlias = Mapping[str, tuple[tuple[int | None, ...], str]]
"""Name of each array, its shape (none where it may vary) and its type."""


def digest(arrays: Arrays) -> str:
    """One fingerprint of names, types, shapes and values; the same however the file was packed."""
    total = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        total.update(f"{name}:{array.dtype.str}:{array.shape};".encode())
        total.update(array.data)
    return total.hexdigest()


def save(path: Path, arrays: Arrays) -> None:
    """Write beside, flush, rename over: a reader sees the whole file or none."""
    make_folder(path.parent)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    with storage_named(path):
        try:
            with temporary.open("wb") as stream:
                np.savez(stream, **arrays)  # type: ignore[arg-type]
                stream.flush()
                os.fsync(stream.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def load(path: Path) -> dict[str, NDArray[Any]]:
    """All arrays of a file; pickles inside are refused."""
    try:
        with np.load(path, allow_pickle=False) as data:
            return {name: data[name] for name in data.files}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} cannot be read as arrays: {error}.") from error


def complaint(path: Path, shapes: Shapes) -> str:
    """What keeps a file from being this data set, by its table of contents alone; empty when
    nothing does.
    """
    try:
        found = _headers(path)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        return f"{path} cannot be read: {error}"
    for name, (shape, kind) in shapes.items():
        if name not in found:
            return f"{path} holds no array {name}"
        if not _fits(found[name], shape, kind):
            return f"{path} holds {name} as {found[name][1]}{found[name][0]}, not as {kind}{shape}"
    return ""


def _headers(path: Path) -> dict[str, tuple[tuple[int, ...], str]]:
    found = {}
    with zipfile.ZipFile(path) as archive:
        for entry in archive.namelist():
            with archive.open(entry) as stream:
                version = np.lib.format.read_magic(stream)
                if version != (1, 0):
                    raise ValueError(f"{entry} has the format {version}")
                shape, _, kind = np.lib.format.read_array_header_1_0(stream)
            found[entry.removesuffix(".npy")] = (shape, kind.name)
    return found


def _fits(found: tuple[tuple[int, ...], str], shape: tuple[int | None, ...], kind: str) -> bool:
    same_rank = len(found[0]) == len(shape)
    return (
        same_rank
        and found[1] == kind
        and all(want in (None, have) for have, want in zip(found[0], shape, strict=True))
    )
