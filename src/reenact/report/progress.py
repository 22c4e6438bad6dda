"""Waiting made visible: a bar on a terminal, plain lines in a log, nothing when asked for nothing.

Progress goes to stderr; stdout belongs to the result.
"""

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from reenact.plain import plain_line
from reenact.types import Progress, Tell, tell_nobody

LINE_EVERY_S = 5.0
SHARE = 20
"""Of a long work a line is printed after a twentieth of the time so far."""
SPARKS = 24
"""Characters of a curve beside a bar."""


@contextmanager
def telling(how: str = "auto") -> Iterator[Tell]:
    """A listener for Progress, by setting: auto, bar, lines or none."""
    if how == "none":
        yield tell_nobody
    elif how == "bar" or (how == "auto" and sys.stderr.isatty()):
        with _bars() as tell:
            yield tell
    else:
        yield Lines()


class Lines:
    """One line when a thing begins and when it ends, and at most one every few seconds between. What is not
    counted is news whenever it says something new: the next thing may take an hour."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[float, str]] = {}
        self._began: dict[str, float] = {}

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        began = self._began.setdefault(progress.what, now)
        at, note = self._last.get(progress.what, (-math.inf, ""))
        ends = progress.total > 0 and progress.done >= progress.total
        news = progress.total == progress.done == 0 and progress.note != note
        pause = max(LINE_EVERY_S, (now - began) / SHARE)
        if now - at < pause and not ends and not news:
            return
        self._last[progress.what] = now, progress.note
        count = f" {progress.done}/{progress.total}" if progress.total else ""
        note = f"  {plain_line(progress.note)}" if progress.note else ""
        print(f"{plain_line(progress.what)}{count}{note}", file=sys.stderr, flush=True)  # noqa: T201


@contextmanager
def _bars() -> Iterator[Tell]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as RichProgress

    from reenact.report.line_plot import sparkline

    name, note = (TextColumn(f"{{task.{one}}}", markup=False) for one in ("description", "fields[note]"))
    columns = (name, BarColumn(bar_width=30), MofNCompleteColumn(), TimeElapsedColumn(), note)
    with RichProgress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def tell(progress: Progress) -> None:
            name, total = plain_line(progress.what), progress.total or None
            if name not in tasks:
                tasks[name] = bars.add_task(name, total=total, note="")
            drawn = f"{sparkline(progress.values, SPARKS)} " if progress.values else ""
            note = f"{drawn}{plain_line(progress.note)}"
            bars.update(tasks[name], completed=progress.done, total=total, note=note)

        yield tell
