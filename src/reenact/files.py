"""Opens what a user or a document named. The only file that does: every other one asks here.

A name may stand for a FIFO that no one writes to, a device without an end, a socket, a folder, or a
file of many gigabytes. Only a plain file is opened, without waiting, and no more of it is read than
was asked for. Links are followed; anyone who must not follow them looks before. Not covered: a file
system that hangs.
"""

import fcntl
import os
import re
import stat
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from io import BufferedReader
from pathlib import Path
from typing import Any

from reenact.errors import NotAFile, UnreadableToml

MIB = 1024 * 1024
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def open_regular(path: Path, most: int | None = None) -> BufferedReader:
    """A plain file, open for reading. Raises OSError as `open` does, and NotAFile for anything
    else, or for one with more than `most` bytes.
    """
    _refuse_unless_plain(path, os.stat(path).st_mode)  # noqa: PTH116 - a name that is not a path is an OSError
    handle = os.open(path, _FLAGS)
    try:
        # What the name stands for may have changed since.
        found = os.fstat(handle)
        _refuse_unless_plain(path, found.st_mode)
        _refuse_too_large(path, found.st_size, most)
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_bytes(path: Path, most: int) -> bytes:
    """All bytes of a plain file. Raises OSError, and NotAFile when there are more than `most`."""
    with open_regular(path, most) as file:
        data = _content(path, file, most + 1)
    # A file may grow while it is read, and files of the kernel do not know their size.
    _refuse_too_large(path, len(data), most)
    return data


def read_start(path: Path, most: int) -> bytes:
    """The first bytes of a plain file, however long it is."""
    with open_regular(path) as file:
        return _content(path, file, most)


def read_text(path: Path, most: int, *, errors: str = "strict") -> str:
    """The text of a plain file in UTF-8. Raises OSError, NotAFile and UnicodeDecodeError."""
    return read_bytes(path, most).decode("utf-8", errors)


@contextmanager
def opened(
    path: str | Path,
    flags: int,
    at: int | None = None,
) -> Iterator[int]:
    """A descriptor by `os.open`, below the folder `at` where that is given; closed in the end."""
    handle = os.open(
        path,
        flags | os.O_CLOEXEC,
        dir_fd=at,
    )
    try:
        yield handle
    finally:
        os.close(handle)


def lock_folder(path: Path) -> int | None:
    """A descriptor that holds a folder until it is closed or its process is gone, however it ends.

    None when somebody else holds the folder, or it is gone, or is not one.
    """
    try:
        lock = os.open(
            path,
            os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC,
        )
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(lock).st_nlink:
            return lock
    except OSError:
        pass
    os.close(lock)
    return None


def _content(path: Path, file: BufferedReader, most: int) -> bytes:
    """What is there now. A log of the kernel looks like a plain file, and has nothing to give until
    something is written to it.
    """
    data: bytes | None = file.read(most)
    if data is None:
        raise NotAFile(
            f"{path} has nothing to read now, expected a file.",
            "it has nothing to read now",
        )
    return data


def _refuse_unless_plain(path: Path, mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    kind = next(
        (words for test, words in _KINDS if test(mode)),
        "not a plain file",
    )
    raise NotAFile(
        f"{path} is {kind}, expected a file.",
        f"it is {kind}, expected a file",
    )


def _refuse_too_large(path: Path, size: int, most: int | None) -> None:
    if most is None or size <= most:
        return
    limit = f"{most // MIB} MiB" if most >= MIB else f"{most} bytes"
    raise NotAFile(
        f"{path} has more than {limit}.",
        f"it has more than {limit}",
    )


DEEPEST_TABLE = 64
"""Tables and lists in one another that a TOML file of ours or a project's may have."""
_LONG_KEY = re.compile(rf"""(?<!["'\w-])(?:["'\w-]+[ \t]*\.[ \t]*){{{DEEPEST_TABLE}}}""")
"""A key of many parts, which the parser needs quadratic time for."""
_LARGEST_NUMBER = 2**63


def read_toml(path: Path, most: int) -> dict[str, Any]:
    """The table of a TOML file. Raises OSError, NotAFile and UnreadableToml, which says why but
    not where.
    """
    try:
        text = read_text(path, most)
    except UnicodeDecodeError as error:
        raise UnreadableToml(f"it is not text in UTF-8 ({error})") from error
    return parse_toml(text)


def parse_toml(text: str) -> dict[str, Any]:
    """The table of a text from outside, no deeper than `DEEPEST_TABLE` and with whole numbers of 64
    bits, so that whatever is done with it ends. Raises UnreadableToml.
    """
    too_deep = f"it is nested deeper than {DEEPEST_TABLE} levels"
    if _LONG_KEY.search(text):
        raise UnreadableToml(too_deep)
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UnreadableToml(str(error)) from error
    except RecursionError as error:
        raise UnreadableToml(too_deep) from error
    except ValueError as error:
        # A number with more digits than Python turns into an integer, or a date that is not one.
        raise UnreadableToml(f"a value in it cannot be read ({error})") from error
    values: list[object] = [table]
    for _ in range(DEEPEST_TABLE):
        values = [inner for value in values for inner in _inside(value)]
        if any(isinstance(value, int) and abs(value) >= _LARGEST_NUMBER for value in values):
            raise UnreadableToml("a whole number in it has more than 64 bits")
        if not values:
            return table
    raise UnreadableToml(too_deep)


def _inside(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


@cache
def packaged_table(package: str, name: str) -> dict[str, Any]:
    """A TOML file that travels in a package of ours."""
    return tomllib.loads(files(package).joinpath(name).read_text(encoding="utf-8"))
