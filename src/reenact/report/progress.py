"""Waiting made visible: one line on a terminal, plain lines in a log, nothing when asked for
nothing.

Progress goes to stderr; stdout belongs to the result. On a terminal the line is below the program's
own output (`terminal_line`); a log gets at most one line every ten seconds.
"""

import math
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from reenact.plain import plain_line
from reenact.report.line_plot import sparkline
from reenact.report.progress_file import asked_for
from reenact.report.terminal_line import TerminalLine, can_show_line, line_on_terminal
from reenact.types import Progress, Tell, tell_nobody

LINE_EVERY_S = 10.0
SHARE = 20
"""Of a long work a line is printed after a twentieth of the time so far."""
SPARKS = 24
"""Characters of a curve."""
BAR = 20
"""Characters of a bar."""
GAP = "  "
STAGES = 10
"""A smaller total counts the stages of a command, which take different times: nothing follows
from it.
"""
SENTENCE = 30
"""A longer detail is worth showing in part."""
LEAST_CUT = 12


@contextmanager
def telling(how: str = "auto") -> Iterator[Tell]:
    """A listener for Progress, by setting: auto, bar, lines or none. A bar needs a terminal."""
    if how == "none":
        yield tell_nobody
    elif how in ("auto", "bar") and can_show_line():
        with line_on_terminal() as line:
            yield OnTerminal(line)
    else:
        lines = Lines()
        try:
            yield asked_for(lines)
        finally:
            lines.close()


class OnTerminal:
    """Shows the newest progress in one line."""

    def __init__(self, line: TerminalLine) -> None:
        self.line = line
        self._first: dict[str, tuple[float, int]] = {}
        """When the first progress of its kind came, and what was done by then."""

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        began, done_before = self._first.setdefault(
            progress.what,
            (now, progress.done),
        )

        def text(columns: int) -> str:
            since = time.monotonic() - now
            elapsed = now - began + since
            return line_text(
                progress,
                columns,
                elapsed=elapsed,
                since=since,
                done_before=done_before,
            )

        self.line.show(text)


def line_text(
    progress: Progress,
    columns: int,
    *,
    elapsed: float,
    since: float = 0.0,
    done_before: int = 0,
) -> str:
    """The progress within so many columns, the last of which stays empty: a full row would wrap.

    Of what does not fit the bar goes first, then the curve, then the name, then details from the
    last one on; the time stays. `elapsed` counts from the first progress of its kind, when
    `done_before` was done; `since` counts from this one.
    """
    from rich.cells import cell_len, set_cell_size

    most = columns - 1
    times = _time_words(progress, elapsed, since, done_before)
    details = _details(progress)
    name = plain_line(progress.what)
    curve = ""
    if progress.values:
        curve = sparkline(progress.values, SPARKS)
    bar = _bar(progress)

    def joined(*parts: str) -> str:
        return GAP.join(part for part in parts if part)

    shown = ", ".join(details)
    for parts in (
        (name, bar, curve, shown, times),
        (name, curve, shown, times),
        (name, shown, times),
    ):
        if cell_len(joined(*parts)) <= most:
            return joined(*parts)
    while details:
        line = joined(", ".join(details), times)
        if cell_len(line) <= most:
            return line
        last = details.pop()
        space = most - cell_len(", ".join([*details, ""])) - len(GAP) - cell_len(times)
        if space >= LEAST_CUT and cell_len(last) > SENTENCE:
            beginning = set_cell_size(last, space - 1).rstrip()
            return joined(
                ", ".join([*details, f"{beginning}…"]),
                times,
            )
    return set_cell_size(times, min(most, cell_len(times)))


def clock(seconds: float) -> str:
    """1:05, 12:40, 3:02:11."""
    minutes, second = divmod(
        max(0, round(seconds)),
        60,
    )
    hours, minute = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minute:02d}:{second:02d}"
    return f"{minute}:{second:02d}"


def _time_words(
    progress: Progress,
    elapsed: float,
    since: float,
    done_before: int,
) -> str:
    """What is left, where that is known or follows from the count; else how long it has taken."""
    left = progress.left
    newly_done = progress.done - done_before
    if left is None and newly_done > 0 and progress.total >= STAGES:
        left = (elapsed - since) / newly_done * (progress.total - progress.done)
    if left is None:
        return f"{clock(elapsed)} so far"
    return f"{clock(max(0.0, left - since))} left"


def _details(progress: Progress) -> list[str]:
    """The parts of the note and the count, without the time left, which has its own place."""
    parts = [plain_line(part) for part in progress.note.split(", ") if part]
    if progress.left is not None:
        parts = parts[:-1]
    if progress.total and not any(f"/{progress.total}" in part for part in parts):
        parts.insert(
            0,
            f"{progress.done}/{progress.total}",
        )
    return parts


def _bar(progress: Progress) -> str:
    if not progress.total:
        return ""
    filled = round(BAR * min(1.0, progress.done / progress.total))
    return "━" * filled + "─" * (BAR - filled)


class Lines:
    """Plain lines, at most one every ten seconds, however many things go on; of a long work fewer.

    The newest of what comes in between is printed when the pause is over: the next thing may take
    an hour.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._began: dict[str, float] = {}
        self._last = -math.inf
        self._printed = ""
        self._waiting: Progress | None = None
        self._timer: threading.Timer | None = None

    def __call__(self, progress: Progress) -> None:
        with self._lock:
            now = time.monotonic()
            began = self._began.setdefault(progress.what, now)
            counted = progress.total or progress.done
            pause = max(LINE_EVERY_S, (now - began) / SHARE if counted else 0.0)
            wait = self._last + pause - now
            if wait <= 0:
                self._print(progress)
                return
            self._waiting = progress
            if self._timer is None:
                self._timer = threading.Timer(wait, self._print_waiting)
                self._timer.daemon = True
                self._timer.start()

    def close(self) -> None:
        """What still waits is left out: the result follows."""
        with self._lock:
            self._waiting = None
            timer = self._timer
        if timer is not None:
            timer.cancel()

    def _print_waiting(self) -> None:
        with self._lock:
            self._timer = None
            if self._waiting is not None:
                self._print(self._waiting)

    def _print(self, progress: Progress) -> None:
        self._waiting = None
        count = ""
        if progress.total:
            count = f" {progress.done}/{progress.total}"
        note = ""
        if progress.note:
            note = f"  {plain_line(progress.note)}"
        line = f"{plain_line(progress.what)}{count}{note}"
        if line == self._printed:
            return
        self._printed = line
        self._last = time.monotonic()
        # A stream that was closed in the meantime ends the telling, not the work.
        with suppress(ValueError):
            print(line, file=sys.stderr, flush=True)  # noqa: T201
