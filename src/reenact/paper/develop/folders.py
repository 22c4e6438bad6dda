"""What the user's folders hold, as whoever writes the code is told: names and sizes, no content."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reenact.paper.develop.workshop import USER_CHECKPOINTS, USER_DATA
from reenact.paper.wishes import Wishes

MOST = 200
"""Files of a folder that are named; of the others the number is said."""


def listing(wishes: Wishes) -> str:
    """Both folders by the names that the code sees; empty when none was given."""
    given = ((wishes.data, USER_DATA), (wishes.checkpoints, USER_CHECKPOINTS))
    return "\n".join(line for folder, name in given if folder is not None for line in _lines(folder, name))


def _lines(folder: Path, name: str) -> Iterator[str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    yield f"{name}/ holds {len(files)} files."
    for path in files[:MOST]:
        yield f"{name}/{path.relative_to(folder).as_posix()} ({path.stat().st_size} bytes)"
    if len(files) > MOST:
        yield f"... and {len(files) - MOST} more."
