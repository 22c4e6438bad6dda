"""Whose rows these are: a keyed hash (HMAC-SHA256) over every run, every step and every trace.

The key is 32 random bytes in the user's configuration folder, readable by no one else, and never in
a journal. A journal that came with a folder, an archive or another machine may say anything with
check sums that hold; it cannot have these hashes. What does not carry a right one is shown,
compared and exported, but nothing of it is executed, continued or taken as evidence. Not covered: a
program that runs as the same user outside the sandbox, which can read the key; rows of this user's
own that are put back in an older state.

The folder of a trace is signed when the watched run has ended, and checked before it counts as
evidence again. A journalled result may name a folder. Somebody who can write there, or who gave us
the whole folder, could put another trace into it. So names, sizes and hashes of all its files are
signed with the user's key, in a file of the folder itself. Showing a trace needs no such file.
"""

import errno
import hashlib
import hmac
import json
import os
import secrets
import stat
import sys
from contextlib import suppress
from pathlib import Path

from reenact.files import opened
from reenact.journal.storage import private

_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
KEY_BYTES = 32
KEY_FILE = "journal.key"
UNUSABLE = (errno.ELOOP, errno.EACCES, errno.ENXIO)
"""What a key says that will never be of use: a link, a file we may not read, a socket."""


def say_on_stderr(sentence: str) -> None:
    """A line on the standard error, which belongs to no protocol."""
    sys.stderr.write(f"reenact: {sentence}\n")


class Signer:
    """Makes and checks keyed hashes; without a key it makes none and believes none."""

    def __init__(self, key: bytes | None, *, is_new: bool = False) -> None:
        self._key = key
        self.is_new = is_new
        """The key was made just now: nothing that is on disk already was signed with it."""

    def sign(self, what: str, content: str) -> str:
        """The keyed hash of a content of this sort (`run`, `step`, `folder`)."""
        if self._key is None:
            return ""
        message = f"{what}\n{content}".encode(
            "utf-8",
            "surrogatepass",
        )
        return hmac.digest(self._key, message, "sha256").hex()

    def holds(self, mac: str, what: str, content: str) -> bool:
        """Whether this user on this machine signed that content."""
        right = self.sign(what, content)
        return bool(right) and hmac.compare_digest(
            right.encode(),
            mac.encode("utf-8", "replace"),
        )


def passing_signer() -> Signer:
    """A key that dies with this process: for a journal in memory, and where none can be kept."""
    return Signer(secrets.token_bytes(KEY_BYTES), is_new=True)


def key_path() -> Path:
    """Where the key of this user on this machine lies."""
    from platformdirs import user_config_path

    return user_config_path("reenact") / KEY_FILE


def known_signer() -> Signer:
    """The signer of this user for reading only: no key is made when there is none."""
    with suppress(OSError, ValueError):
        return Signer(_read(key_path()))
    return Signer(None)


def user_signer() -> Signer:
    """The signer of this user; the key is made at the first use, and again when it cannot be
    used.
    """
    path = key_path()
    try:
        try:
            return Signer(_read(path))
        except FileNotFoundError:
            return Signer(_made(path), is_new=True)
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno not in UNUSABLE:
                raise
            path.unlink()
            made = Signer(_made(path), is_new=True)
            say_on_stderr(
                f"The journal key {path} could not be used ({_reason(error)}); a new one was made."
            )
            return made
    except (OSError, ValueError) as error:
        instead = "Make that folder writable for you, or set XDG_CONFIG_HOME."
        why = f"{path} ({_reason(error)}): what is recorded now cannot be continued later."
        say_on_stderr(f"No journal key can be kept at {why} {instead}")
        return passing_signer()


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _read(path: Path) -> bytes:
    """The key, when it is a file of our own; rights that others have on it are taken away."""
    with opened(path, _LOOK) as handle:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid():
            raise ValueError("it is not a plain file of this user")
        if facts.st_mode & 0o077:
            os.fchmod(handle, 0o600)
        key = os.read(handle, KEY_BYTES + 1)
    if len(key) != KEY_BYTES:
        raise ValueError(f"it has not {KEY_BYTES} bytes")
    return key


def _made(path: Path) -> bytes:
    """A new key; when another process makes one at the same moment, the one that came first."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if stat.S_IMODE(path.parent.stat().st_mode) & 0o077:
        path.parent.chmod(0o700)
    half = path.with_name(f".{KEY_FILE}.{os.getpid()}.{secrets.token_hex(4)}")
    with open(half, "xb", opener=private, buffering=0) as file:
        file.write(secrets.token_bytes(KEY_BYTES))
        os.fsync(file.fileno())
    try:
        # A link appears whole or not at all, and never over another.
        with suppress(FileExistsError):
            os.link(half, path)
    except OSError:
        # A file system without links.
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)
    return _read(path)


SEAL = "trace.mac"
MOST_FILES = 100_000
MOST_BYTES = 1 << 33


def listing(folder: Path) -> str:
    """One text for the folder's name and all its files; ValueError when it holds anything else."""
    entries: list[tuple[str, int, str]] = []
    total = 0

    def refuse(error: OSError) -> None:
        raise error

    def expect(fulfilled: bool, what: str) -> None:
        if not fulfilled:
            raise ValueError(f"the folder of a trace holds {what}")

    for place, folders, names in os.walk(folder, onerror=refuse):
        for name in folders:
            expect(not Path(place, name).is_symlink(), "a link")
        for path in (Path(place, name) for name in names if Path(place, name) != folder / SEAL):
            expect(stat.S_ISREG(path.lstat().st_mode), "something that is not a plain file")
            with os.fdopen(
                os.open(path, _LOOK | os.O_CLOEXEC),
                "rb",
            ) as file:
                facts = os.fstat(file.fileno())
                expect(
                    stat.S_ISREG(facts.st_mode) and facts.st_size <= MOST_BYTES,
                    "a file too large",
                )
                sha256 = hashlib.file_digest(file, "sha256").hexdigest()
            total += facts.st_size
            entries.append(
                (
                    path.relative_to(folder).as_posix(),
                    facts.st_size,
                    sha256,
                )
            )
            expect(
                len(entries) <= MOST_FILES and total <= MOST_BYTES,
                "too much",
            )
    return json.dumps([folder.name, sorted(entries)])
