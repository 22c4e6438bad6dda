"""A git folder of ours that borrows objects, index and references of an untrusted one, never its settings."""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reenact.errors import InputError

MOST_REFERENCES = 20_000
_HEAD = re.compile(r"(?:ref: refs/[\w./+-]+|[0-9a-f]{40}|[0-9a-f]{64})\n?")


@contextmanager
def own_git_folder(tree: Path) -> Iterator[Path]:
    """Our git folder for the untrusted work tree `tree`, removed afterwards."""
    theirs = tree / ".git"
    if not stat.S_ISDIR(_mode(theirs)) or not stat.S_ISDIR(_mode(theirs / "objects")):
        raise InputError(f"This is no git work tree with a .git folder of its own: folder={tree}")
    if _mode(theirs / "objects" / "info" / "alternates"):
        raise InputError(f"This repository borrows objects from another one, which is not followed: {tree}")
    with tempfile.TemporaryDirectory(prefix="reenact-git-") as made:
        ours = Path(made)
        (ours / "objects" / "info").mkdir(parents=True)
        (ours / "objects" / "info" / "alternates").write_text(f"{(theirs / 'objects').absolute()}\n")
        (ours / "refs").mkdir()
        head = _read(theirs / "HEAD", 1024).decode(errors="replace")
        if not _HEAD.fullmatch(head):
            raise InputError(f"The repository's HEAD makes no sense: {head[:80]!r}")
        (ours / "HEAD").write_text(head)
        (ours / "config").write_text(_own_config(theirs))
        for name in ("index", "packed-refs", "shallow"):
            if stat.S_ISREG(_mode(theirs / name)):
                (ours / name).write_bytes(_read(theirs / name, 256 * 1024 * 1024))
        _copy_references(theirs, ours)
        yield ours


def _own_config(theirs: Path) -> str:
    """Our settings; of theirs only the kind of hash is looked at, by its letters."""
    text = _read(theirs / "config", 1024 * 1024) if stat.S_ISREG(_mode(theirs / "config")) else b""
    if re.search(rb"(?im)^\s*objectformat\s*=\s*sha256\s*$", text):
        return (
            "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectFormat = sha256\n"
        )
    return "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"


def _copy_references(theirs: Path, ours: Path) -> None:
    copied = 0
    for folder, _, names in os.walk(theirs / "refs"):
        target = ours / Path(folder).relative_to(theirs)
        target.mkdir(parents=True, exist_ok=True)
        for name in names:
            source = Path(folder) / name
            copied += 1
            if copied > MOST_REFERENCES:
                raise InputError(f"The repository has more than {MOST_REFERENCES} references.")
            if stat.S_ISREG(_mode(source)):
                (target / name).write_bytes(_read(source, 1024))


def _mode(path: Path) -> int:
    try:
        return path.lstat().st_mode
    except OSError:
        return 0


def _read(path: Path, most: int) -> bytes:
    """The first bytes of a plain file; a link or anything that could make us wait is an error."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise InputError(f"The repository's {path.name} cannot be read: {error.strerror}.") from error
    with os.fdopen(opened, "rb") as source:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise InputError(f"The repository's {path.name} is not a plain file.")
        content = source.read(most + 1)
    if len(content) > most:
        raise InputError(f"The repository's {path.name} has more than {most} bytes.")
    return content
