"""The files that a watched program opened, and whether they are still what they were.

The probe leaves their names (`inject/reenact_probe/opened.py`); here they are looked at after the run. A file
up to 64 MiB counts by the hash of its content, as long as all of them together are below 1 GiB; a larger one,
and those after that, count by size, time of change, first and last MiB. A folder counts by the names in it.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from reenact.probe.injected import part

MIB = 1024 * 1024
WHOLE = 64 * MIB
TOGETHER = 1024 * MIB
NOT_LISTED = "the probe did not say which files it opened"


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

    @property
    def was_there(self) -> bool:
        return self.size >= 0

    def is_unchanged(self) -> bool:
        """Looks at it now; the content is read only where the time of change is another."""
        now = _status(self.path)
        if now is None or not self.was_there:
            return (now is None) is not self.was_there
        if not stat.S_ISDIR(now.st_mode) and now.st_size != self.size:
            return False
        if now.st_mtime_ns == self.mtime_ns and not stat.S_ISDIR(now.st_mode):
            return True
        return _looked_at(self.path, whole=self.whole).sha256 == self.sha256


@dataclass(frozen=True, slots=True)
class Opened:
    """What a watched run opened; `blind` says why the list does not tell everything."""

    files: tuple[OpenedFile, ...] = ()
    blind: tuple[str, ...] = (NOT_LISTED,)

    def is_unchanged(self) -> bool:
        """Whether the same run would read the same now, as far as files decide that."""
        return not self.blind and all(file.is_unchanged() for file in self.files)

    @property
    def digest(self) -> str:
        """One mark for all that was there to be read; none where that is not known. Files that were not
        there leave it as it is: the run that finds one has it in its own list."""
        contents = [[file.path, file.sha256] for file in self.files if file.was_there]
        return "" if self.blind else hashlib.sha256(json.dumps(contents).encode()).hexdigest()


def read_opened(folder: Path, program: Iterable[Path] = (), aside: Path | None = None) -> Opened:
    """The list that a run left in the folder of its trace. `program` are files that count otherwise; what
    lies in or below `aside`, where we write ourselves, does not count."""
    file = folder / str(part("opened").NAME)
    try:
        lines = file.read_text(encoding="ascii").splitlines()
    except OSError:
        return Opened()
    try:
        entries = [json.loads(line) for line in lines]
        blind = tuple(dict.fromkeys(str(one["blind"]) for one in entries if "blind" in one))
        names = {str(one.get("file") or one["folder"]) for one in entries if "file" in one or "folder" in one}
        listed = {str(one["folder"]) for one in entries if "folder" in one}
    except (ValueError, TypeError, AttributeError, KeyError):
        return Opened()
    if not any("process" in one for one in entries):
        return Opened()
    names -= {str(path) for path in program}
    if aside is not None:
        ours = str(aside.resolve())
        names = {name for name in names if name != ours and not name.startswith(ours + os.sep)}
    return Opened((), blind) if blind else Opened(tuple(_all(sorted(names), listed)), ())


def _all(names: Iterable[str], listed: set[str]) -> Iterator[OpenedFile]:
    left = TOGETHER
    for name in names:
        now = _status(name)
        if now is not None and stat.S_ISDIR(now.st_mode) and name not in listed:
            continue
        found = _looked_at(name, whole=now is None or now.st_size <= min(WHOLE, left))
        left -= found.size if found.whole and found.was_there else 0
        yield found


def _looked_at(name: str, *, whole: bool) -> OpenedFile:
    now = _status(name)
    if now is None:
        return OpenedFile(name, -1, 0, "")
    try:
        digest = _content(name, now, whole=whole)
    except OSError as error:
        digest = hashlib.sha256(f"unreadable {error.errno}".encode())
    size = 0 if stat.S_ISDIR(now.st_mode) else now.st_size
    return OpenedFile(name, size, now.st_mtime_ns, digest.hexdigest(), whole)


def _content(name: str, now: os.stat_result, *, whole: bool) -> hashlib._Hash:
    """The hash of what counts. A pipe or a device is never read: it would wait."""
    if stat.S_ISDIR(now.st_mode):
        return hashlib.sha256(
            "\0".join(sorted(path.name for path in Path(name).iterdir())).encode("utf-8", "surrogatepass")
        )
    if not stat.S_ISREG(now.st_mode):
        return hashlib.sha256(f"special {now.st_rdev}".encode())
    with Path(name).open("rb") as file:
        if whole:
            return hashlib.file_digest(file, "sha256")
        digest = hashlib.sha256(f"{now.st_size} {now.st_mtime_ns}".encode())
        digest.update(file.read(MIB))
        file.seek(max(0, now.st_size - MIB))
        digest.update(file.read(MIB))
        return digest


def _status(name: str) -> os.stat_result | None:
    try:
        return Path(name).stat()
    except (OSError, ValueError):
        return None
