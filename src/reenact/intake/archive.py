"""Unpacks zip and tar archives from strangers into an empty folder.

Covered: absolute names, `..`, odd characters, names that occur twice, deep trees, more members or
more bytes than agreed (counted while they are written, whatever the headers claim), headers made to
fill the memory, encrypted members. Links, devices and FIFOs are left out, so nothing can be written
through one. Permissions are ours: no member is executable. Not covered: the memory an xz archive
may ask for its dictionary (up to some hundred MiB).
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import math
import os
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NoReturn, TypeAlias, cast

from reenact.errors import UnreadableRepository
from reenact.files import open_regular, read_start

_CHUNK = 1 << 20
_HEADER_BYTES = 16 * 1024 * 1024
"""What tarfile may read of one header, long names and maps of sparse files included: it keeps
all of it.
"""
_ODD = re.compile(r"[\x00-\x1f\x7f\\]")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_BROKEN = (
    OSError,
    EOFError,
    ValueError,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
)
_OPENERS: dict[bytes, Any] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
_Member: TypeAlias = tuple[str, bool, IO[bytes] | None]
"""Its name, whether it is a folder, and what a plain file holds; none for anything else."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How large a strange tree may be."""

    most_bytes: int = 2 * 1024**3
    most_files: int = 200_000
    deepest: int = 40
    longest_name: int = 255


def is_archive(path: Path) -> bool:
    """Whether a file is a zip or tar archive, by its content."""
    with suppress(OSError):
        return begins_archive(read_start(path, 512))
    return False


def begins_archive(start: bytes) -> bool:
    """Whether the first 512 bytes of a file are those of an archive."""
    return start.startswith((b"PK\x03\x04", b"PK\x05\x06", *_OPENERS)) or start[257:262] == b"ustar"


def unpack(
    path: Path,
    into: Path,
    bounds: Bounds,
) -> tuple[Path, str]:
    """Unpack into an empty folder. UnreadableRepository with the reason when that cannot be done.
    The project is the only folder at the top of the archive, or all of it. With it comes the commit
    that `git archive` noted, a claim of the archive's; empty when there is none.
    """
    try:
        with _opened(path) as (members, comment):
            _write_all(members, into, bounds)
            noted = comment()
    except (*_BROKEN, NotImplementedError) as error:
        raise UnreadableRepository(
            f"The archive {path.name} cannot be unpacked: {error}."
        ) from error
    entries = list(into.iterdir())
    folder = entries[0] if len(entries) == 1 and entries[0].is_dir() else into
    return folder, noted if _COMMIT.fullmatch(noted) else ""


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Iterator[_Member], Any]]:
    start = read_start(path, 6)
    if start.startswith(b"PK"):
        with open_regular(path) as plain, zipfile.ZipFile(plain) as archive:
            yield (
                _zip_members(archive),
                lambda: archive.comment.decode(errors="replace"),
            )
        return
    opener = next(
        (each for magic, each in _OPENERS.items() if start.startswith(magic)),
        None,
    )
    with (
        open_regular(path) as plain,
        opener(plain, "rb") if opener else nullcontext(plain) as raw,
    ):
        bounded = _Bounded(raw)
        with tarfile.open(
            fileobj=cast("IO[bytes]", bounded),
            mode="r:",
        ) as archive:
            yield (
                _tar_members(archive, bounded),
                lambda: archive.pax_headers.get("comment", ""),
            )


def _zip_members(archive: zipfile.ZipFile) -> Iterator[_Member]:
    for entry in archive.infolist():
        plain = stat.S_IFMT(entry.external_attr >> 16) in (0, stat.S_IFREG)
        if entry.flag_bits & 1:
            _refuse(f"{entry.filename!r} is encrypted")
        if entry.is_dir() or not plain:
            yield entry.filename, entry.is_dir(), None
            continue
        with archive.open(entry) as stream:
            yield entry.filename, False, stream


def _tar_members(archive: tarfile.TarFile, stream: _Bounded) -> Iterator[_Member]:
    for entry in archive:
        stream.left = math.inf
        yield (
            entry.name,
            entry.isdir(),
            archive.extractfile(entry) if entry.isreg() else None,
        )
        stream.left = _HEADER_BYTES
        # tarfile remembers every member; a list of millions would be a bomb of its own.
        archive.members = []  # type: ignore[attr-defined]


class _Bounded:
    """A stream for tarfile that gives only so much of a header."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.seek = stream.seek
        self.tell = stream.tell
        self.left: float = _HEADER_BYTES

    def read(self, size: int) -> bytes:
        self.left -= size
        if size < 0 or self.left < 0:
            _refuse(f"a header is larger than {_HEADER_BYTES} bytes")
        return cast("bytes", self._stream.read(size))


def _write_all(members: Iterator[_Member], into: Path, bounds: Bounds) -> None:
    """Write all plain files and folders below one folder."""
    written = 0
    for count, (name, is_folder, stream) in enumerate(members, start=1):
        if count > bounds.most_files:
            _refuse(f"it has more than {bounds.most_files} members")
        target = into.joinpath(*_parts(name, bounds))
        if is_folder:
            target.mkdir(parents=True, exist_ok=True)
        elif stream is not None:
            written += _write(target, stream, written, bounds.most_bytes)


def _parts(name: str, bounds: Bounds) -> list[str]:
    """The folders and the file that a member's name leads to."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts or _ODD.search(name):
        _refuse(f"a member has a name that may not be: {name[:100]!r}")
    if len(parts) > bounds.deepest:
        _refuse(f"it is deeper than {bounds.deepest} folders")
    if any(len(os.fsencode(part)) > bounds.longest_name for part in parts):
        _refuse(f"a name is longer than {bounds.longest_name} bytes")
    return parts


def _write(
    target: Path,
    stream: IO[bytes],
    before: int,
    most_bytes: int,
) -> int:
    """Write one file; how many bytes it has."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        out = target.open("xb")
    except FileExistsError:
        _refuse(f"it holds the same name twice: {target.name!r}")
    size = 0
    with out:
        while piece := stream.read(_CHUNK):
            size += len(piece)
            if before + size > most_bytes:
                _refuse(f"it unpacks to more than {most_bytes} bytes")
            out.write(piece)
    return size


def _refuse(reason: str) -> NoReturn:
    raise UnreadableRepository(f"The archive was refused: {reason}.")
