"""The folder of a trace: signed when the watched run has ended, checked before it counts as evidence again.

A journalled result may name a folder. Somebody who can write there, or who gave us the whole folder, could
put another trace into it. So names, sizes and hashes of all its files are signed with the user's key, in a
file of the folder itself. Showing a trace needs no such file.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from pathlib import Path

from reenact.journal.signing import Signer
from reenact.journal.storage import private, storage_named

SEAL = "trace.mac"
MOST_FILES = 100_000
MOST_BYTES = 1 << 33
_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def seal(signer: Signer, folder: Path) -> None:
    """Sign what the folder holds now. A folder with links or sockets in it is left unsigned."""
    if not folder.is_dir():
        return
    try:
        mac = signer.sign("folder", _listing(folder))
    except ValueError:
        return
    place = folder / SEAL
    with storage_named(place):
        place.unlink(missing_ok=True)
        with open(place, "x", encoding="ascii", opener=private) as file:
            file.write(mac)


def is_sealed(signer: Signer, folder: Path, below: Path) -> bool:
    """Whether the folder lies below that one and holds just what this user's watched run left there."""
    try:
        real, top = folder.resolve(strict=True), below.resolve(strict=True)
        if real == top or not real.is_relative_to(top) or not real.is_dir():
            return False
        mac = (real / SEAL).read_text(encoding="ascii") if _is_small(real / SEAL) else ""
        return signer.holds(mac, "folder", _listing(real))
    except (OSError, ValueError, RuntimeError):
        # Gone, unreadable, a loop of links, not ours in form: none of that is evidence.
        return False


def _is_small(path: Path) -> bool:
    facts = path.lstat()
    return stat.S_ISREG(facts.st_mode) and facts.st_size < 200


def _listing(folder: Path) -> str:
    """One text for the folder's name and all its files; ValueError when it holds anything else."""
    entries: list[tuple[str, int, str]] = []
    total = 0
    for place, folders, names in os.walk(folder, onerror=_refuse):
        for name in folders:
            _expect(not Path(place, name).is_symlink(), "a link")
        for name in names:
            path = Path(place, name)
            if path == folder / SEAL:
                continue
            size, sha256 = _hashed(path)
            total += size
            entries.append((path.relative_to(folder).as_posix(), size, sha256))
            _expect(len(entries) <= MOST_FILES and total <= MOST_BYTES, "too much")
    return json.dumps([folder.name, sorted(entries)])


def _hashed(path: Path) -> tuple[int, str]:
    _expect(stat.S_ISREG(path.lstat().st_mode), "something that is not a plain file")
    handle = os.open(path, _LOOK)
    with os.fdopen(handle, "rb") as file:
        facts = os.fstat(handle)
        _expect(stat.S_ISREG(facts.st_mode) and facts.st_size <= MOST_BYTES, "a file too large")
        return facts.st_size, hashlib.file_digest(file, "sha256").hexdigest()


def _expect(fulfilled: bool, what: str) -> None:
    if not fulfilled:
        raise ValueError(f"the folder of a trace holds {what}")


def _refuse(error: OSError) -> None:
    raise error
