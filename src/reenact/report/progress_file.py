"""Progress of a command in the background, in a file that who started it reads."""

import json
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reenact.errors import NotAFile
from reenact.files import read_text
from reenact.own_process import progress_file
from reenact.plain import plain_line
from reenact.types import Progress, Tell

EVERY_S = 1.0
MOST_BYTES = 4096
LONGEST = 200


@dataclass(frozen=True, slots=True)
class Stage:
    """What a command is doing."""

    doing: str
    """In words, with the count and the loss where there are some."""
    percent: int | None
    """Of this stage; none where its length is unknown."""
    left_s: float | None
    """Seconds until this stage is done, where that is known."""


class ProgressFile:
    """Writes the newest progress to the file, at most once a second, and passes it on."""

    def __init__(self, path: Path, tell: Tell) -> None:
        self._path = path
        self._tell = tell
        self._last = -EVERY_S
        self._what = ""

    def __call__(self, progress: Progress) -> None:
        self._tell(progress)
        now = time.monotonic()
        if progress.what == self._what and now - self._last < EVERY_S:
            return
        self._what = progress.what
        self._last = now
        data = {
            "what": progress.what,
            "note": progress.note[:LONGEST],
            "done": progress.done,
            "total": progress.total,
            "left": progress.left,
            "at": time.time(),
        }
        part = self._path.with_suffix(".progress-part")
        # A folder that is gone ends the telling, not the work.
        with suppress(OSError):
            part.write_text(json.dumps(data), encoding="utf-8")
            part.replace(self._path)


def asked_for(tell: Tell) -> Tell:
    """The listener, which also writes the file that the environment names."""
    path = progress_file()
    return ProgressFile(Path(path), tell) if path else tell


def read_stage(path: Path) -> Stage | None:
    """What was written last; none where there is nothing that can be read."""
    try:
        data: Any = json.loads(read_text(path, MOST_BYTES))
        total = int(data["total"])
        percent = min(100, 100 * int(data["done"]) // total) if total > 0 else None
        left = data["left"]
        if left is not None:
            left = max(0.0, float(left) - (time.time() - float(data["at"])))
        parts = (plain_line(str(data["what"])), plain_line(str(data["note"])))
        return Stage(": ".join(part for part in parts if part), percent, left)
    except (OSError, NotAFile, ValueError, TypeError, KeyError):
        return None
