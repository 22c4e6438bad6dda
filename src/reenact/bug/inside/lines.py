"""Which lines of the project a script executes inside functions, in the order in which they last ran."""

from __future__ import annotations

import os
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_LINES = 20_000


class Lines:
    """Follows the frames of the project; those of libraries run at their own speed."""

    def __init__(self, project: str) -> None:
        self._root = os.path.realpath(project) + os.sep
        self._files: dict[str, str] = {}
        self._ran: dict[tuple[str, int], int] = {}
        self._count = 0

    def start(self) -> None:
        sys.settrace(self._entered)

    def stop(self) -> dict[str, list[int]]:
        """Lines by file, the one that ran last at the end."""
        sys.settrace(None)
        found: dict[str, list[int]] = {}
        for (file, line), _ in sorted(self._ran.items(), key=lambda item: item[1]):
            found.setdefault(file, []).append(line)
        return found

    def _entered(self, frame: types.FrameType, event: str, _: Any) -> Callable[..., Any] | None:
        code = frame.f_code
        file = self._file(code.co_filename)
        # What a module does while it is imported is not a part of a call.
        if event != "call" or not file or code.co_name == "<module>":
            return None

        def follow(inner: types.FrameType, event: str, _: Any) -> Any:
            if event == "line" and (len(self._ran) < MOST_LINES):
                self._count += 1
                self._ran[file, inner.f_lineno] = self._count
            return follow

        return follow

    def _file(self, name: str) -> str:
        """The path below the project; empty for files of others."""
        if name not in self._files:
            path = os.path.realpath(name)
            inside = path.startswith(self._root) and "site-packages" not in path
            self._files[name] = os.path.relpath(path, self._root) if inside else ""
        return self._files[name]
