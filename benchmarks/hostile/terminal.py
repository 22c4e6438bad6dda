"""A terminal for the supervisor of a hostile program, to see whether anything is typed into it."""

from __future__ import annotations

import array
import fcntl
import os
import subprocess
import termios
import tty
from types import TracebackType


class Terminal:
    """A pseudo-terminal, or nothing when none is wanted."""

    def __init__(self, *, wanted: bool) -> None:
        self._wanted = wanted

    def __enter__(self) -> Terminal:
        if self._wanted:
            self._near, self._far = os.openpty()
            tty.setraw(self._far)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._wanted:
            os.close(self._near)
            os.close(self._far)

    def stdin(self) -> int:
        """What the supervisor's standard input is."""
        return self._far if self._wanted else subprocess.DEVNULL

    def environment(self) -> dict[str, str]:
        """Where the program may look for the terminal."""
        return {"CANARY_TERMINAL": os.ttyname(self._far)} if self._wanted else {}

    def typed(self) -> list[str]:
        """Whether characters wait in the terminal's input, in words."""
        if not self._wanted:
            return []
        waiting = array.array("i", [0])
        fcntl.ioctl(self._far, termios.FIONREAD, waiting)
        return [f"{waiting[0]} characters were typed into the terminal"] if waiting[0] else []
