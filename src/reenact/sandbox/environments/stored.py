"""One prepared environment as it lies in the cache, complete or not there, and the interpreter it
is for.

One process at a time may build one; the kernel frees the lock of a process that dies.

Covered: a cache that somebody else filled. Its record does not decide what boxes are shown: that is
the folder itself, below the cache and not a link, and the installation of the interpreter that was
asked just now. A record that names another installation does not count, and the environment is
built again. Not covered: what the planted packages do, in boxes.
"""

import fcntl
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import NamedTuple

from reenact.errors import InputError, ended_by
from reenact.host_program import ask_users_interpreter
from reenact.sandbox.box import MIB, Mount
from reenact.sandbox.disk import tree_usage
from reenact.types import Progress, Stop, Tell


@contextmanager
def locked(
    path: Path,
    tell: Tell,
    stop: Stop | None,
    *,
    shared: bool = False,
    why: str = "another process builds the same environment",
) -> Iterator[None]:
    """Hold the lock of a file that stays; wait for anyone who has it, and say so. `shared`: together
    with others that only ask for it so.
    """
    how = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    with open(
        path,
        "ab",
        opener=lambda name, flags: os.open(
            name,
            flags | os.O_NOFOLLOW,
            0o600,
        ),
    ) as lock:
        for look in count():
            try:
                fcntl.flock(lock, how | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not look:
                    tell(
                        Progress(
                            "environment",
                            note=f"{why}; waiting",
                        )
                    )
                if (stop or Stop()).wait(0.2):
                    raise ended_by(stop, "Preparing the environment was stopped.") from None
        yield


_ASK = (
    "import json, os, sys, sysconfig, platform; print(json.dumps([' "
    "'.join([sys.implementation.cache_tag, platform.python_version(), sysconfig.get_platform(), "
    "platform.libc_ver()[0]]), os.path.realpath(sys.base_prefix)]))"
)


class Interpreter(NamedTuple):
    """One Python installation: what it is, and where it lies."""

    kind: str
    folder: str

    def __str__(self) -> str:
        return f"{self.kind} {self.folder}"


@cache
def ask_interpreter(python: str) -> Interpreter:
    """The facts about the interpreter at a path."""
    try:
        # Without `site`: the facts are those of the bare interpreter, and no .pth file need run for
        # them.
        done = ask_users_interpreter(
            [python, "-I", "-S", "-c", _ASK],
            wall_s=60,
        )
        return Interpreter(*json.loads(done.stdout))
    except (OSError, subprocess.TimeoutExpired, TypeError, ValueError) as error:
        raise InputError(
            f"This is not a Python interpreter that works. Received: python={python!r}"
        ) from error


_MANIFEST = "reenact-environment.json"
_KEY = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Environment:
    """A complete virtual environment and how to use it in a box."""

    key: str
    folder: Path
    packages: tuple[str, ...]
    """Everything installed, as NAME==VERSION."""
    size_bytes: int
    interpreter: str
    """The folder of the Python installation behind it."""

    @property
    def python(self) -> str:
        """The interpreter to name in a Command."""
        return str(self.folder / "bin" / "python")

    @property
    def mounts(self) -> tuple[Mount, ...]:
        """What a Command must mount. Targets equal sources, for tiers that cannot show a folder
        elsewhere.
        """
        shown = [Mount(self.folder, str(self.folder))]
        if not Path(self.interpreter).is_relative_to("/usr"):
            shown.append(Mount(Path(self.interpreter), self.interpreter))
        return tuple(shown)


def read_environment(cache: Path, key: str, interpreter: Interpreter) -> Environment | None:
    """The environment of a key that was made for an interpreter, none when there is none."""
    folder = cache / key
    if _KEY.fullmatch(key) is None or folder.is_symlink():
        return None
    try:
        record = json.loads((folder / _MANIFEST).read_text())
        if record["interpreter"] != interpreter.folder:
            return None
        packages = tuple(str(package) for package in record["packages"])
        return Environment(
            key,
            folder=folder,
            packages=packages,
            size_bytes=int(record["size_bytes"]),
            interpreter=interpreter.folder,
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def finish(
    half: Path,
    final: Path,
    pins: tuple[str, ...],
    interpreter: Interpreter,
) -> None:
    """Make a built environment fit for its final place, and write down what it is."""
    for script in (half / "bin").iterdir():
        if script.is_symlink() or not script.is_file() or script.stat().st_size > MIB:
            continue
        text = script.read_bytes()
        if str(half).encode() in text:
            script.write_bytes(
                text.replace(
                    str(half).encode(),
                    str(final).encode(),
                )
            )
    size = tree_usage(half, sys.maxsize).bytes
    record = {
        "packages": pins,
        "size_bytes": size,
        "interpreter": interpreter.folder,
    }
    (half / _MANIFEST).write_text(json.dumps(record))


def mark_used(folder: Path) -> None:
    """Remember that an environment was asked for just now."""
    with suppress(OSError):
        os.utime(folder / _MANIFEST)


def last_used(folder: Path) -> float:
    """When an environment was made or last asked for, in seconds."""
    with suppress(OSError):
        return (folder / _MANIFEST).stat().st_mtime
    return 0.0


def hash_of(*parts: object) -> str:
    """One name for all the parts together."""
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()
