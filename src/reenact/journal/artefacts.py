"""Large bytes next to the journal, named by the SHA-256 of their content and checked on every
read.
"""

import hashlib
import re
import secrets
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from reenact.errors import JournalDamaged
from reenact.journal.records import Artefact
from reenact.journal.storage import Locks, make_folder, storage_named, write_whole

NAME = re.compile(r"[0-9a-f]{64}")
TEMPORARY = re.compile(r"(\d{1,10})-[0-9a-f]{8}")
OWNERS = 1 << 40
"""Lock numbers from here on say that the writer of a temporary file lives; below are runs."""


def named(data: bytes) -> Artefact:
    """What these bytes are called."""
    return Artefact(
        hashlib.sha256(data).hexdigest(),
        len(data),
    )


class FolderArtefacts:
    """`artefacts/ab/cdef...` under the journal's folder."""

    def __init__(self, folder: Path, locks: Locks) -> None:
        self._root = folder / "artefacts"
        self._temporary = folder / "tmp"
        self._locks = locks
        self._owner: int | None = None
        self._mutex = threading.Lock()

    def keep(self, data: bytes) -> Artefact:
        """Store durably; the same bytes are stored once."""
        artefact = named(data)
        path = self._path(artefact.sha256)
        with storage_named(path):
            # A damaged file is written again by anyone who still has its content.
            intact = path.exists() and named(path.read_bytes()) == artefact
        if not intact:
            make_folder(path.parent, 0o700)
            make_folder(self._temporary, 0o700)
            temporary = self._temporary / f"{self._token()}-{secrets.token_hex(4)}"
            write_whole(path, data, temporary=temporary, mode=0o400)
        return artefact

    def read(self, sha256: str) -> bytes:
        """The bytes, proven to be those that were kept."""
        path = self._path(sha256)
        try:
            with storage_named(path):
                data = path.read_bytes()
        except FileNotFoundError as error:
            raise _damaged(path, "is missing") from error
        if hashlib.sha256(data).hexdigest() != sha256:
            raise _damaged(path, "does not hold what was written to it")
        return data

    def drop(self, sha256: str) -> None:
        path = self._path(sha256)
        with storage_named(path):
            path.unlink(missing_ok=True)

    def names(self) -> Iterator[str]:
        for path in sorted(self._root.glob("??/*")):
            if NAME.fullmatch(name := path.parent.name + path.name):
                yield name

    def sweep(self) -> None:
        """Remove temporary files whose writer is dead."""
        for path in sorted(self._temporary.glob("*")):
            owner = TEMPORARY.fullmatch(path.name)
            if owner and not self._locks.is_held(OWNERS + int(owner[1])):
                with storage_named(path):
                    path.unlink(missing_ok=True)

    def close(self) -> None:
        if self._owner is not None:
            self._locks.release(OWNERS + self._owner)
            self._owner = None

    def _token(self) -> int:
        with self._mutex:
            while self._owner is None:
                token = secrets.randbelow(10**9)
                if self._locks.take(OWNERS + token):
                    self._owner = token
            return self._owner

    def _path(self, sha256: str) -> Path:
        if not NAME.fullmatch(sha256):
            raise JournalDamaged(
                f"An artefact is named by 64 hexadecimal digits. Received: {sha256!r}."
            )
        return self._root / sha256[:2] / sha256[2:]


class MemoryArtefacts:
    """The twin for tests: nothing touches the disk."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def keep(self, data: bytes) -> Artefact:
        artefact = named(data)
        self._kept[artefact.sha256] = data
        return artefact

    def read(self, sha256: str) -> bytes:
        if sha256 not in self._kept:
            raise JournalDamaged(f"The artefact {sha256[:12]} is missing.")
        return self._kept[sha256]

    def drop(self, sha256: str) -> None:
        self._kept.pop(sha256, None)

    def names(self) -> Iterator[str]:
        yield from sorted(self._kept)

    def close(self) -> None:
        """Nothing to let go of."""


Artefacts: TypeAlias = FolderArtefacts | MemoryArtefacts


def _damaged(path: Path, what: str) -> JournalDamaged:
    instead = (
        "Run the command with --fresh, or remove the run that needs it: reenact runs remove RUN"
    )
    return JournalDamaged(
        f"The artefact {path} {what}.",
        next_step=instead,
    )
