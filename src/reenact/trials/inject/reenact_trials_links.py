"""A trial's folder holds small files as copies and large ones as links to the user's own. Nothing
is written through such a link: before it happens the link becomes a copy.

Covered: everything that the interpreter's audit events tell of (`open` for writing, making, moving,
removing and truncating, SQLite), and the two usual writers that open files by themselves (PyTorch,
HDF5). Not covered: other native libraries that open a linked file for writing, programs that are
not Python, and absolute paths, which mean what they say.
"""

from __future__ import annotations

import functools
import os
import shutil
import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reenact_probe.types import Library

VARIABLE = "REENACT_TRIAL_ROOT"
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC
_FOLLOWS = frozenset(
    (
        "os.truncate",
        "os.chmod",
        "os.chown",
        "os.utime",
        "os.setxattr",
        "shutil.rmtree",
        "sqlite3.connect",
    )
)
"""Events about a file that is changed through a link to it."""
_ENTRIES = frozenset(("os.mkdir", "os.remove", "os.rmdir", "os.rename", "os.link", "os.symlink"))
"""Events about entries of a folder: the folder must be ours, the entry itself may be a link."""


def own(root: str, path: str, follow: bool = True) -> None:
    """Make a path below `root` safe to write to: a link on the way becomes a folder, at the end
    a copy.
    """
    relative = os.path.relpath(
        os.path.abspath(path),
        root,
    )
    if relative == os.curdir or relative.startswith(os.pardir):
        return
    parts = relative.split(os.sep)
    at = root
    for number, part in enumerate(parts, 1):
        at = os.path.join(at, part)
        if os.path.islink(at) and (follow or number < len(parts)):
            target = os.path.realpath(at)
            if os.path.exists(target) and not target.startswith(os.path.realpath(root) + os.sep):
                _copy(at, target)


def _copy(link: str, target: str) -> None:
    beside = f"{link}.{os.getpid()}.part"
    if os.path.isdir(target):
        os.mkdir(beside)
        for name in os.listdir(target):
            os.symlink(
                os.path.join(target, name),
                os.path.join(beside, name),
            )
        os.unlink(link)
    else:
        shutil.copy2(target, beside)
    os.rename(beside, link)


class _Guard:
    """Listens to the interpreter's events; its own work raises events too, which it passes over."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)
        self.here = threading.local()
        """`busy` while this thread makes a copy."""
        self.lock = threading.Lock()

    def on_event(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event not in _EVENTS or getattr(self.here, "busy", False):
            return
        if event == "open" and not (isinstance(arguments[2], int) and arguments[2] & _WRITES):
            return
        for path in (
            arguments[:2] if event in ("os.rename", "os.link", "os.symlink") else arguments[:1]
        ):
            self.keep(path, follow=event not in _ENTRIES)

    def keep(self, path: Any, follow: bool = True) -> None:
        """Make one path ours; a number is a file that is open already."""
        if not isinstance(path, (str, bytes, os.PathLike)):
            return
        self.here.busy = True
        try:
            with self.lock:
                own(self.root, os.fsdecode(path), follow)
        finally:
            self.here.busy = False

    def torch_arrived(self, torch: Library) -> None:
        writer = torch._C.PyTorchFileWriter

        @functools.wraps(writer)
        def guarded(file: Any, *args: Any, **kwargs: Any) -> Any:
            self.keep(file)
            return writer(file, *args, **kwargs)

        torch._C.PyTorchFileWriter = guarded

    def h5py_arrived(self, h5py: Library) -> None:
        begin = h5py.File.__init__

        @functools.wraps(begin)
        def guarded(
            file: Any,
            name: Any,
            mode: Any = "r",
            *args: Any,
            **kwargs: Any,
        ) -> None:
            if mode != "r":
                self.keep(name)
            begin(file, name, mode, *args, **kwargs)

        h5py.File.__init__ = guarded


_EVENTS = frozenset(("open",)) | _FOLLOWS | _ENTRIES


def guard() -> None:
    """Stand guard in this process for good, where its trial has links: an audit hook cannot be
    taken away.
    """
    from reenact_probe.late import when_imported

    root = os.environ.get(VARIABLE)
    if root:
        guarding = _Guard(root)
        sys.addaudithook(guarding.on_event)
        when_imported("torch", guarding.torch_arrived)
        when_imported("h5py", guarding.h5py_arrived)
