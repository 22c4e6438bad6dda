"""Names for traces: the script and a number that is free."""

from __future__ import annotations

import re
from pathlib import Path

TRACES = Path(".reenact") / "traces"


def fresh_folder(name: str, parent: Path | None = None) -> Path:
    """`PARENT/name-1`, or the next number that nobody has taken; made at once, so that it is ours."""
    parent = parent or TRACES
    make_private(parent)
    stem = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.") or "run"
    taken = {path.name for path in parent.iterdir()}
    number = 1
    while True:
        folder = parent / f"{stem}-{number}"
        if folder.name not in taken:
            try:
                folder.mkdir(mode=0o700)
            except FileExistsError:
                number += 1
                continue
            return folder
        number += 1


def make_private(folder: Path) -> None:
    """Make a folder, and what is missing above it, for its owner alone."""
    if not folder.is_dir():
        make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
