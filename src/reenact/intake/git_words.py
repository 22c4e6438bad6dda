"""What git says, turned into what happened to the user's wish."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from reenact.errors import InputError, Unreachable, UnreadableRepository

_NO_NETWORK = re.compile(
    r"resolve host|connect to|timed out|unreachable|unable to access|TLS|SSL", re.IGNORECASE
)
_NO_ENTRY = re.compile(
    r"could not read Username|Authentication failed|not found|error: 40[34]", re.IGNORECASE
)
_NO_COMMIT = re.compile(
    r"remote ref|not our ref|single revision|unknown revision|bad revision|Not a valid object"
    r"|unadvertised object|no revision of",
    re.IGNORECASE,
)


@contextmanager
def git_said(source: str, commit: str) -> Iterator[None]:
    """Names a missing commit, a closed repository and an absent network; other errors pass."""
    try:
        yield
    except UnreadableRepository:
        raise
    except InputError as error:
        named = _named(error.sentence, source, commit)
        if named is None:
            raise
        raise named from error


def _named(said: str, source: str, commit: str) -> UnreadableRepository | Unreachable | None:
    if _NO_COMMIT.search(said) and not commit:
        return UnreadableRepository(f"The repository {source} is empty: it has no commit yet.")
    if _NO_COMMIT.search(said):
        short = bool(re.fullmatch(r"[0-9a-f]{4,39}", commit))
        return UnreadableRepository(
            f"The repository {source} has no commit or branch {commit!r}.",
            next_step="Give the commit with all its digits." if short else "Check the name with git log.",
        )
    if _NO_ENTRY.search(said):
        return UnreadableRepository(
            f"The repository {source} is not there, or is not open to everybody.",
            next_step="Clone it yourself and name the folder.",
        )
    if _NO_NETWORK.search(said):
        return Unreachable(
            f"The repository {source} cannot be reached: {said}",
            next_step="Check the network, or name a folder, an archive or a bundle.",
        )
    return None
