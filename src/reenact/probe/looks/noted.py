"""Which of a program's looks count, and which files are its own.

A path counts when the program looks at it before it makes it: its content, what lies in it, where
it leads, or that it is there, how large it is and who may use it. What it makes without a look (its
results, its temporary files) is its own and does not count, and neither does what is named after
the moment of the run. Of a file that it only appends to (a log) counts whether there is anything in
it: the size grows by the run. Times of files do not count: a copy or a checkout changes them.
Interpreter and installed packages count by their versions, machine and devices in
`surroundings.py`; of /proc, /sys and /dev nothing else counts.
"""

from __future__ import annotations

import json
import os
import re
import stat
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

NAME = "looks.jsonl"
MOST = 20_000
"""Paths; of a program that looks at more it is only noted that it does."""
TOO_MANY = f"it looks at more than {MOST} files"
_INSTALLED = ("/site-packages/", "/dist-packages/")
_MACHINE = ("/proc/", "/sys/", "/dev/")
_SHARED_MEMORY = "/dev/shm/"  # noqa: S108 - a prefix that is compared
_PROCESS = re.compile(r"/proc/(self|thread-self|\d+)/(cwd|root|fd|task)(/|$)")
_IGNORED = frozenset(("/etc/ld.so.cache",))
"""Changes whenever anything is installed; the libraries that are found through it are opened
themselves.
"""
_SAME_FOR_ALL = re.compile(
    r"/dev/(null|zero|full|u?random|tty|console|ptmx|pts/.*|std(in|out|err)|fd/.*"
    r"|nvidia.*|kfd|dri/.*|accel.*|dxg|infiniband/.*)"
)
"""Devices that give no data, chance, or nothing to a training (it has no standard input), and those
that compute: they are in `machine.py`.
"""
_MOMENT_DIGITS = 6
"""Digits in a name that is taken for one of this run alone: a date, a time, a number by chance."""


class Noted:
    """What one run looks at; `Listener` says it, one call at a time."""

    def __init__(self, apart: Iterable[str] = ()) -> None:
        self._apart = tuple(path.rstrip("/") + "/" for path in apart)
        """Folders that count otherwise, or are ours."""
        self._above = {str(above) for path in self._apart for above in Path(path).parents}
        """Folders around these: they exist, and who makes sure of it are we."""
        self._temporary = {tempfile.gettempdir(), "/tmp", "/var/tmp"}  # noqa: S108
        self._looks: dict[tuple[str, str], None] = {}
        self._missing: dict[str, bool] = {}
        """Of each path that was looked at, whether it was missing at the first look."""
        self._own: set[str] = set()
        self._own_folders: set[str] = set()
        """Folders in which everything is the program's own."""
        self._blind: dict[str, None] = {}

    def blind(self, why: str) -> None:
        """From now on the list does not tell everything."""
        self._blind[why] = None

    def opened(self, path: str, flags: int) -> bool:
        """A file that is read or written, or a folder that is listed. Whether it is a folder,
        listed for the first time.
        """
        if not self._counts(path):
            self._from_device(path, flags)
            return False
        if flags & os.O_PATH:
            self.status(path)
            return False
        there = _status(path)
        if there is not None and stat.S_ISDIR(there.st_mode):
            # A file without a name is the program's own.
            unnamed = flags & os.O_TMPFILE == os.O_TMPFILE
            return not unnamed and self._look("folder", path, missing=False)
        reads = flags & os.O_ACCMODE != os.O_WRONLY
        if flags & os.O_CREAT and flags & os.O_EXCL:
            self.made_where_nothing_is(path)
        elif flags & os.O_TRUNC or (flags & os.O_CREAT and there is None):
            self.made(path)
            if flags & os.O_APPEND and not flags & os.O_TRUNC and not self._is_of_this_run(path):
                self._looks["begun", path] = None
        elif reads:
            self._from_stream(path, there)
            self._look("file", path, missing=there is None)
        else:
            self._look(
                "begun" if flags & os.O_APPEND else "status",
                path,
                missing=there is None,
            )
        return False

    def status(self, path: str) -> None:
        """Whether something is there, what it is, how large, who may use it."""
        if self._counts(path):
            self._look("status", path)

    def link(self, path: str) -> None:
        """The same of a link itself, and where it leads."""
        if self._counts(path):
            self._look("link", path)

    def executed(self, path: str) -> None:
        """Another program: what it looks at is seen as well."""
        if self._counts(path):
            self._look("file", path)

    def listed_for_import(self, path: str) -> None:
        """A folder in which the import system searches: only modules in it matter."""
        if self._counts(path):
            self._look("modules", path)

    def was_for_import(self, path: str) -> None:
        """The same, known only after the look."""
        self._looks.pop(("folder", path), None)
        self._look("modules", path)

    def made(self, path: str) -> None:
        """A file that did not exist, or whose content is gone."""
        if not self._counts(path) or path in self._own:
            return
        if not _can_make(path):
            self._look("status", path)
        elif path not in self._missing:
            self._own.add(path)
        elif self._missing[path] and self._is_of_this_run(path):
            self._own.add(path)
            self._forget(path)

    def made_where_nothing_is(self, path: str) -> None:
        """What can be made only there: the program learns whether something is."""
        if _status(path) is not None:
            self._look("there", path, missing=False)
            return
        self.made(path)
        if path in self._own and not self._is_of_this_run(path):
            self._looks["there", path] = None

    def made_folder(self, path: str) -> None:
        """A folder that is there from now on, whether or not it was there before."""
        if not self._counts(path):
            return
        there = _status(path)
        if path in self._missing and not self._is_of_this_run(path):
            return
        self._own.add(path)
        self._forget(path)
        if there is None and self._is_of_this_run(path):
            self._own_folders.add(path)

    def linked(self, source: str, target: str) -> None:
        """A second name for a file: what is read by that name is the file."""
        if _status(source) is None:
            self.status(source)
            return
        if self._counts(source):
            self._look("file", source)
        self.made_where_nothing_is(target)

    def moved(self, source: str, target: str) -> None:
        """A file or folder under another name: the program's own only if it was that before."""
        there = _status(source)
        if there is None:
            self.status(source)
            return
        if not _can_move(there, target):
            self.status(target)
            return
        is_own = self._is_own(source)
        self.removed(source)
        if not is_own:
            self._own.discard(target)
            return
        self.made(target)
        if stat.S_ISDIR(there.st_mode) and target in self._own:
            self._own_folders.add(target)

    def removed(self, path: str) -> None:
        """What is gone by the program's own doing."""
        if self._counts(path) and path not in self._missing and os.access(_above(path), os.W_OK):
            self._own.add(path)

    def connected(self, path: str) -> None:
        """A socket of this machine: who answers there is another program, unless this one made
        it.
        """
        if os.path.lexists(path) and not self._is_own(path):
            self.talked_to(path)

    def talked_to(self, name: str) -> None:
        """Another program, by the name of its socket."""
        self.blind(f"it talks to another program ({name})")

    def write(self, folder: Path) -> None:
        """Leave the list: a line of JSON a path."""
        own = defaultdict(list)
        for path in self._own:
            above, _, name = path.rpartition("/")
            own[above].append(name)
        lines: list[dict[str, object]] = [{"seen": True}]
        lines += [{"blind": why} for why in self._blind]
        for kind, path in self._looks:
            if kind == "folder":
                kind = "own folder" if path in self._own else "folder"
                lines.append(
                    {
                        kind: path,
                        "own": sorted(own.get(path.rstrip("/"), ())),
                    }
                )
            else:
                lines.append({kind: path})
        text = "".join(json.dumps(line) + "\n" for line in lines)
        target = folder / NAME
        target.touch(mode=0o600)
        target.write_text(text, encoding="ascii")

    def _from_stream(self, path: str, there: os.stat_result | None) -> None:
        """What comes from a pipe or a device is not there to be compared with later."""
        if there is None or stat.S_ISREG(there.st_mode) or self._is_own(path):
            return
        kind = "pipe" if stat.S_ISFIFO(there.st_mode) else "device"
        self.blind(f"it reads the {kind} {path}")

    def _from_device(self, path: str, flags: int) -> None:
        reads = not flags & os.O_PATH and flags & os.O_ACCMODE != os.O_WRONLY
        if not reads or not path.startswith("/dev/") or _SAME_FOR_ALL.fullmatch(path):
            return
        there = _status(path)
        if there is not None and not stat.S_ISDIR(there.st_mode):
            self._from_stream(path, there)

    def _counts(self, path: str) -> bool:
        slashed = path if path.endswith("/") else path + "/"
        if slashed.startswith(self._apart) or any(part in slashed for part in _INSTALLED):
            return False
        if slashed.startswith(_MACHINE) and not slashed.startswith(_SHARED_MEMORY):
            return False
        return path not in _IGNORED

    def _look(
        self,
        kind: str,
        path: str,
        *,
        missing: bool | None = None,
    ) -> bool:
        """Whether it is a new one."""
        path = _source(path)
        if kind != "link" and path in self._own and Path(path).is_symlink():
            path = os.path.realpath(path)
        if (kind, path) in self._looks or not self._counts(path):
            return False
        # That its own folder is there does not count; what others put into it does.
        is_listed = kind == "folder" and path in self._own
        if self._is_own(path) and not is_listed:
            return False
        if kind in ("status", "link") and path in self._above:
            return False
        if path not in self._missing:
            self._missing[path] = _status(path) is None if missing is None else missing
        self._looks[kind, path] = None
        if len(self._looks) > MOST:
            self.blind(TOO_MANY)
            self._looks.clear()
        return True

    def _is_own(self, path: str) -> bool:
        if path in self._own:
            return True
        if not self._own_folders:
            return False
        while path not in ("", "/"):
            if path in self._own_folders:
                return True
            path = path.rpartition("/")[0]
        return False

    def _is_of_this_run(self, path: str) -> bool:
        """Whether another run would use another name: it is a temporary file, or named after
        the moment.
        """
        folder, _, name = path.rpartition("/")
        return folder in self._temporary or sum(map(str.isdigit, name)) >= _MOMENT_DIGITS

    def _forget(self, path: str) -> None:
        for kind in ("file", "status", "link", "begun", "there"):
            self._looks.pop((kind, path), None)


def full_path(path: str, base: str, process: int) -> str:
    """From the root, without dots; through /proc as the process itself would come there."""
    joined = path if path.startswith("/") else f"{base}/{path}"
    of_process = _PROCESS.match(joined)
    if of_process is not None:
        joined = (
            joined.replace(of_process[1], str(process), 1)
            if not of_process[1].isdigit()
            else joined
        )
        joined = os.path.realpath(joined)
    if ".." in joined.split("/"):
        # A folder above a link is not the one above its name.
        above, _, name = joined.rpartition("/")
        joined = os.path.realpath(joined) if name == ".." else f"{os.path.realpath(above)}/{name}"
    return os.path.normpath(joined).replace("//", "/")


def _can_make(path: str) -> bool:
    """Whether a file can be made or emptied there, as far as its rights tell."""
    return os.access(
        path if os.path.lexists(path) else _above(path),
        os.W_OK,
    )


def _above(path: str) -> str:
    return path.rpartition("/")[0] or "/"


def _can_move(there: os.stat_result, target: str) -> bool:
    """Not to another disk or into no folder, and a folder only over a folder."""
    above = _status(_above(target))
    over = _status(target)
    if above is None or above.st_dev != there.st_dev:
        return False
    return over is None or stat.S_ISDIR(over.st_mode) == stat.S_ISDIR(there.st_mode)


def _status(path: str) -> os.stat_result | None:
    """Of what a path leads to, or of a link that leads nowhere."""
    for follow in (True, False):
        with suppress(OSError, ValueError):
            return Path(path).stat(follow_symlinks=follow)
    return None


def _source(path: str) -> str:
    """The source of a compiled module: that is what decides whether the compiled one counts."""
    folder, _, file = path.rpartition("/")
    if folder.rpartition("/")[2] != "__pycache__" or not file.endswith(".pyc"):
        return path
    return folder.rpartition("/")[0] + "/" + file.partition(".")[0] + ".py"
