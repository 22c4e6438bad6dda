"""The Python files of a checkout, read without trusting any of them.

Covered: links (never followed, so nothing outside the tree is read and nothing twice), FIFOs and devices,
files too large to be written by hand, binary bytes, wrong or lying encodings, a tree larger than agreed.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

MOST_FILE_BYTES = 1024 * 1024
MOST_BYTES = 512 * 1024 * 1024
MOST_FILES = 50_000
_SKIPPED = frozenset(
    {"node_modules", "site-packages", "__pycache__", "__pypackages__", "venv", "env", "virtualenv"}
)
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Source:
    """One file as it was read."""

    path: PurePosixPath
    data: bytes

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    def text(self) -> str:
        """Decoded, with newlines alone between lines, so that lines count as Python counts them."""
        return decode(self.data)


@dataclass(frozen=True, slots=True)
class Sources:
    """All files that are read, and what was left out."""

    files: tuple[Source, ...]
    left_out: tuple[str, ...]
    """`path: why`."""


def read_sources(folder: Path) -> Sources:
    """Every Python file below the folder that is worth indexing, in a fixed order."""
    files: list[Source] = []
    left_out: list[str] = []
    size = 0
    for path in _python_files(folder):
        data = _read(folder / path) if _is_text(path) else "its name is no text"
        if isinstance(data, str):
            left_out.append(f"{_plain(path)}: {data}")
            continue
        size += len(data)
        if size > MOST_BYTES or len(files) >= MOST_FILES:
            left_out.append(f"{_plain(path)}: too much before it, all files after it are left out too")
            break
        files.append(Source(path, data))
    return Sources(tuple(files), tuple(left_out))


def read_text(folder: Path, path: PurePosixPath) -> str:
    """The text of one file of the checkout; empty when it is gone or not readable."""
    data = _read(folder / path)
    return "" if isinstance(data, str) else decode(data)


def decode(data: bytes) -> str:
    """By byte order mark, by the cookie of its first lines, as UTF-8, and at last as Latin-1."""
    for encoding in (*_claimed(data), "utf-8"):
        try:
            text = data.decode(encoding)
            text.encode("utf-8")
        except (UnicodeError, LookupError):
            continue
        return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return data.decode("latin-1").replace("\r\n", "\n").replace("\r", "\n")


def _claimed(data: bytes) -> Iterator[str]:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        yield "utf-16"
    for line in data.split(b"\n", 2)[:2]:
        if found := _COOKIE.match(line):
            name = found[1].decode("ascii", "replace")
            # Codecs that do not give text (`hex`, `zip`) would run on bytes of a stranger.
            if _is_text_codec(name):
                yield name


def _is_text_codec(name: str) -> bool:
    try:
        return bool(codecs.lookup(name)._is_text_encoding)
    except (LookupError, ValueError):
        return False


def _python_files(folder: Path) -> Iterator[PurePosixPath]:
    for inner, folders, names in os.walk(folder):
        here = Path(inner)
        folders[:] = sorted(name for name in folders if _is_entered(here, name))
        below = PurePosixPath(here.relative_to(folder).as_posix())
        for name in sorted(names):
            if name.endswith(".py"):
                yield below / name


def _is_text(path: PurePosixPath) -> bool:
    return _plain(path) == str(path)


def _plain(path: PurePosixPath) -> str:
    """A name as it can be shown: bytes that are no text become question marks."""
    return "".join(letter if letter.isprintable() else "?" for letter in str(path))


def _is_entered(here: Path, name: str) -> bool:
    if name.startswith(".") or name in _SKIPPED or name.endswith(".egg-info"):
        return False
    copied = here.name == "build" and (name == "lib" or name.startswith(("lib.", "bdist.")))
    return not copied and not (here / name / "pyvenv.cfg").exists()


def _read(path: Path) -> bytes | str:
    """The bytes of a plain file, or why they are not read."""
    try:
        opened = os.open(path, _OPEN)
    except OSError as error:
        return "a link" if path.is_symlink() else f"cannot be opened ({os.strerror(error.errno or 0)})"
    with os.fdopen(opened, "rb") as stream:
        found = os.fstat(opened)
        if not stat.S_ISREG(found.st_mode):
            return "no plain file"
        if found.st_size > MOST_FILE_BYTES:
            return f"{found.st_size} bytes, too large to be written by hand"
        data = stream.read(MOST_FILE_BYTES + 1)
    is_text = b"\0" not in data or data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return data if is_text else "binary"
