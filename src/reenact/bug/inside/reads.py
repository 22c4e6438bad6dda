"""Notices a script that opens files of the repository or traces the interpreter; the project's own
code may.

Covered: what Python announces to an audit hook (open, listdir, scandir, sqlite3, settrace). Not
covered: asking whether a file is there, how long it is or how old, and what a library of C opens;
control revisions, in which sizes and times are others, find that out.
"""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __package__:
    from reenact.bug.inside import judge
else:
    import judge

FILES = frozenset(
    {
        "open",
        "os.listdir",
        "os.scandir",
        "os.chdir",
        "os.link",
        "os.symlink",
        "glob.glob",
        "shutil.copyfile",
        "shutil.copytree",
        "sqlite3.connect",
        "ctypes.dlopen",
    }
)
TRACES = frozenset({"sys.settrace", "sys.setprofile", "sys.monitoring.register_callback"})
_IMPORTS = ("_find_and_load", "_gcd_import", "_handle_fromlist")
"""Functions of the import system: what they open is an import."""


class Reads:
    """What the script itself opened; `noticed` is the first of it, in words."""

    def __init__(
        self, project: str, script: str, *, lent: Callable[[], bool] = lambda: False
    ) -> None:
        self.noticed = ""
        self._project = os.path.realpath(project)
        self._script = script
        self._lent = lent
        self._owners: dict[str, str] = {}
        self._asleep = True

    def install(self) -> None:
        """From here on; an audit hook stays until the process ends."""
        sys.addaudithook(self._announced)
        self._asleep = False

    def end(self) -> None:
        """What follows is the watcher's own."""
        self._asleep = True

    def _announced(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._asleep or self.noticed or (event not in FILES and event not in TRACES):
            return
        self._asleep = True
        try:
            self.noticed = self._meaning(event, arguments)
        finally:
            self._asleep = False

    def _meaning(self, event: str, arguments: tuple[Any, ...]) -> str:
        if event in TRACES:
            by_script = self._by_script(sys._getframe(2), "")
            return f"it traces the interpreter ({event})" if by_script else ""
        for one in arguments[:2]:
            if isinstance(one, (str, bytes, os.PathLike)):
                path = os.path.realpath(os.fsdecode(one))
                inside = path == self._project or path.startswith(self._project + os.sep)
                if inside and self._by_script(sys._getframe(2), path):
                    return (
                        f"it opens a file of the repository "
                        f"({os.path.relpath(path, self._project)})"
                    )
        return ""

    def _by_script(self, frame: types.FrameType | None, path: str) -> bool:
        """Whether the nearest frame that is not a library's is the script's, and it is not an import. A
        package that reads the source of what it compiles, as `torch.jit.script` does, may.
        """
        if self._lent():
            return True
        lines = installed = False
        while frame is not None:
            filename = frame.f_code.co_filename
            if filename.startswith("<frozen importlib") and frame.f_code.co_name in _IMPORTS:
                return False
            if filename not in self._owners:
                self._owners[filename] = judge.where(filename, self._project, self._script)
            whose = self._owners[filename]
            if whose != "library":
                return whose == "script" and not (lines and installed and path.endswith(".py"))
            lines = lines or os.path.basename(filename) == "linecache.py"
            installed = installed or "site-packages" in filename
            frame = frame.f_back
        return False
