"""What a watched run looked at, as it was after the run, and whether it still is.

The looks come from `looks/`. A file up to 64 MiB counts by the hash of its content, as long as all
of them together are below 1 GiB; a larger one, and those after that, count by size, inode, both
times of change, first and last MiB: no tool sets back the time at which the inode changed. A folder
that was listed counts by the names in it, without the program's own, and by its files with the
ending of one that was read there, because another seed may draw those; a link by where it leads;
what was only looked at by its kind, size and mode.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from reenact.probe.looks.noted import MOST, NAME, TOO_MANY

MIB = 1024 * 1024
WHOLE = 64 * MIB
TOGETHER = 1024 * MIB
NOT_LISTED = "the probe did not say which files it looked at"
KINDS = ("file", "folder", "own folder", "modules", "link", "status", "begun", "there")
_NO_NAMES = hashlib.sha256(b"").hexdigest()
_CACHES = "__pycache__"
_MODULES = (".py", ".so", ".pyc", ".dist-info", ".egg-info")


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A file or folder as it was after the run."""

    path: str
    size: int
    """-1 when there was none."""
    mtime_ns: int
    sha256: str
    """Of the content, or of what counts in its place; empty when there was none."""
    whole: bool = True
    """Whether all of the content counts."""
    kind: str = "file"
    """file: its content; folder: the names in it; own folder: the same of one that the program
    makes; modules: those names that can be imported; link: where it leads; status: that it is
    there, what it is, its size and mode; begun: whether it is empty; there: that it is there.
    """
    ctime_ns: int = 0
    inode: int = 0
    without: tuple[str, ...] = ()
    """Names in a folder that do not count: the program made them, or we did."""

    @property
    def was_there(self) -> bool:
        return self.size >= 0

    @property
    def says_nothing(self) -> bool:
        """Modules that a run imports are files that it opens; a folder that it made holds what
        it made.
        """
        return self.kind == "modules" or (self.kind == "own folder" and self.sha256 == _NO_NAMES)

    def is_unchanged(self) -> bool:
        """Looks at it now; the content is read only where a time of change or the inode is
        another.
        """
        now = _status(self.path, follow=self.kind != "link")
        if now is None or not self.was_there:
            return (now is None) is not self.was_there
        if self.kind == "file":
            if now.st_size != self.size:
                return False
            if (now.st_mtime_ns, now.st_ctime_ns, now.st_ino) == (
                self.mtime_ns,
                self.ctime_ns,
                self.inode,
            ):
                return True
        return (
            _looked_at(self.path, self.kind, self.without, whole=self.whole).sha256 == self.sha256
        )


@dataclass(frozen=True, slots=True)
class Opened:
    """What a watched run looked at; `blind` says why the list does not tell everything."""

    files: tuple[OpenedFile, ...] = ()
    blind: tuple[str, ...] = (NOT_LISTED,)

    def is_unchanged(self) -> bool:
        """Whether the same run would see the same now, as far as files decide that."""
        return not self.blind and all(file.is_unchanged() for file in self.files)

    @property
    def digest(self) -> str:
        """One mark for all that was there to be seen; empty where that is not known.

        What was not there leaves it as it is: the run that finds it has it in its own list.
        """
        if self.blind:
            return ""
        contents = [[file.kind, file.path, file.sha256] for file in self._counted()]
        return hashlib.sha256(json.dumps(contents).encode()).hexdigest()

    def differing(self, later: Opened) -> list[str]:
        """Paths that make the digest of a later run another one."""
        mine = {(file.kind, file.path): file.sha256 for file in self._counted()}
        theirs = {(file.kind, file.path): file.sha256 for file in later._counted()}
        keys = [key for key in {**mine, **theirs} if mine.get(key) != theirs.get(key)]
        return sorted({path for _, path in keys})

    def _counted(self) -> Iterator[OpenedFile]:
        return (file for file in self.files if file.was_there and not file.says_nothing)


def read_opened(
    folder: Path,
    program: Iterable[Path] = (),
    aside: Path | None = None,
) -> Opened:
    """The list that a run left in the folder of its trace. `program` are files that count
    otherwise; what lies in or below `aside`, where we write ourselves, does not count.
    """
    try:
        lines = (folder / NAME).read_text(encoding="ascii").splitlines()
        noted = [json.loads(line) for line in lines]
        blind = tuple(str(line["blind"]) for line in noted if "blind" in line)
        looks = [
            (kind, line[kind], line.get("own", ()))
            for line in noted
            for kind in KINDS
            if kind in line
        ]
        is_whole = any("seen" in line for line in noted)
    except (OSError, ValueError, TypeError, AttributeError, KeyError):
        return Opened()
    if not is_whole:
        return Opened()
    if blind:
        return Opened((), blind)
    elsewhere = {str(path) for path in program}
    ours = str(aside.resolve()) if aside is not None else ""
    counted = []
    for kind, path, own in looks:
        if path in elsewhere or (ours and (path == ours or path.startswith(ours + os.sep))):
            continue
        without = set(own)
        above, _, name = ours.rpartition(os.sep)
        if ours and above == path:
            without.add(name)
        counted.append((path, kind, tuple(sorted(without))))
    looked_at = {path for path, kind, _ in counted if kind == "file"} | elsewhere
    unread = [(path, "file", ()) for path in _unread(counted, looked_at)]
    if len(unread) > MOST:
        return Opened((), (TOO_MANY,))
    return Opened(
        tuple(_all(sorted([*counted, *unread]))),
        (),
    )


def _unread(
    counted: Iterable[tuple[str, str, tuple[str, ...]]], looked_at: set[str]
) -> Iterator[str]:
    """Files that another seed may draw: of a folder that the program lists, those with the ending
    of one that it reads there.
    """
    endings = defaultdict(set)
    for path in looked_at:
        endings[path.rpartition("/")[0]].add(Path(path).suffix)
    for folder, kind, without in counted:
        suffixes = endings[folder] - set(_MODULES) if kind in ("folder", "own folder") else set()
        if not suffixes:
            continue
        with suppress(OSError):
            for inside in os.scandir(folder):
                drawn = Path(inside.name).suffix in suffixes and inside.name not in without
                if drawn and inside.path not in looked_at and inside.is_file():
                    yield inside.path


def _all(looks: Iterable[tuple[str, str, tuple[str, ...]]]) -> Iterator[OpenedFile]:
    left = TOGETHER
    for path, kind, without in looks:
        now = _status(path)
        whole = kind != "file" or now is None or now.st_size <= min(WHOLE, left)
        file = _looked_at(path, kind, without, whole=whole)
        if kind == "file" and whole and file.was_there:
            left -= file.size
        yield file


def _looked_at(
    path: str,
    kind: str,
    without: tuple[str, ...],
    *,
    whole: bool,
) -> OpenedFile:
    now = _status(path, follow=kind != "link")
    if now is None:
        return OpenedFile(
            path,
            -1,
            0,
            "",
            kind=kind,
            without=without,
        )
    try:
        digest = _content(path, kind, now, without, whole=whole)
    except OSError as error:
        digest = hashlib.sha256(f"unreadable {error.errno}".encode())
    return OpenedFile(
        path,
        size=now.st_size if stat.S_ISREG(now.st_mode) else 0,
        mtime_ns=now.st_mtime_ns,
        sha256=digest.hexdigest(),
        whole=whole,
        kind=kind,
        ctime_ns=now.st_ctime_ns,
        inode=now.st_ino,
        without=without,
    )


def _content(
    path: str,
    kind: str,
    now: os.stat_result,
    without: tuple[str, ...],
    *,
    whole: bool,
) -> hashlib._Hash:
    """The hash of what counts. A pipe or a device is never read: it would wait."""
    if kind == "link" and stat.S_ISLNK(now.st_mode):
        return hashlib.sha256(b"leads to " + os.fsencode(Path(path).readlink()))
    if kind == "there":
        return hashlib.sha256(b"there")
    if kind == "begun":
        return hashlib.sha256(b"empty" if now.st_size == 0 else b"begun")
    if kind in ("link", "status"):
        size = now.st_size if stat.S_ISREG(now.st_mode) else 0
        return hashlib.sha256(f"status {now.st_mode:o} {size}".encode())
    if stat.S_ISDIR(now.st_mode):
        names = sorted({inside.name for inside in Path(path).iterdir()} - {*without, _CACHES})
        if kind == "modules":
            names = [name for name in names if _is_module(path, name)]
        return hashlib.sha256("\0".join(names).encode("utf-8", "surrogatepass"))
    if not stat.S_ISREG(now.st_mode):
        return hashlib.sha256(f"special {now.st_rdev}".encode())
    with Path(path).open("rb") as file:
        if whole:
            return hashlib.file_digest(file, "sha256")
        stated = f"{now.st_size} {now.st_mtime_ns} {now.st_ctime_ns} {now.st_ino}"
        digest = hashlib.sha256(stated.encode())
        digest.update(file.read(MIB))
        file.seek(max(0, now.st_size - MIB))
        digest.update(file.read(MIB))
        return digest


def _is_module(folder: str, name: str) -> bool:
    return name.endswith(_MODULES) or Path(folder, name, "__init__.py").is_file()


def _status(path: str, *, follow: bool = True) -> os.stat_result | None:
    try:
        return Path(path).stat(follow_symlinks=follow)
    except (OSError, ValueError):
        return None
