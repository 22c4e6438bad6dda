"""What the host does with the files that a hostile program left, with the safe tools of the
project; judged.

Every step gives the complaints about it, empty when it went well. A file that should be refused and
is accepted is a complaint; whether code of the program ran is for the tripwire to say.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from reenact.errors import ReenactError, ResultRefused
from reenact.sandbox.files.results import read_array, read_arrays, read_json
from reenact.sandbox.repository import Repository

_TIME = 1_700_000_000
"""Given to every file, so that forged byte code finds the time it was forged for."""

Files = Mapping[str, bytes]


def after(step: str, files: Files, folder: Path) -> list[str]:
    """Do a step with the collected files in an empty folder; the complaints about it."""
    return _STEPS[step](files, folder)


def lay_out(files: Files, folder: Path) -> None:
    """Write collected files as an archive would unpack them, executable and with their times."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o755)
        os.utime(path, (_TIME, _TIME))


def make_repository(folder: Path) -> None:
    """An honest repository with one committed file."""
    (folder / "tracked.txt").write_text("as committed\n")
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    for words in (
        ("init", "-q"),
        ("add", "tracked.txt"),
        (*who, "commit", "-q", "-m", "first"),
    ):
        environment = {
            **os.environ,
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        subprocess.run(["git", *words], cwd=folder, env=environment, check=True)  # noqa: S603, S607 - our own tree


def _git(files: Files, folder: Path) -> list[str]:
    make_repository(folder)
    lay_out(files, folder)
    return [] if "tracked.txt" in Repository(folder).changed() else ["git did not see the change"]


def _refuses(read: Callable[[bytes], object]) -> Callable[[Files, Path], list[str]]:
    def step(files: Files, folder: Path) -> list[str]:  # noqa: ARG001 - the same shape as the other steps
        return [
            f"the host accepted {name}"
            for name, content in files.items()
            if not _refused(read, content)
        ]

    return step


def _refused(read: Callable[[bytes], object], content: bytes) -> bool:
    try:
        read(content)
    except ResultRefused:
        return True
    except ReenactError:
        return False
    return False


def _read_any_array(content: bytes) -> object:
    return read_arrays(content) if content[:2] == b"PK" else read_array(content)


_STEPS: Mapping[str, Callable[[Files, Path], list[str]]] = {
    "git": _git,
    "json": _refuses(read_json),
    "array": _refuses(_read_any_array),
}
