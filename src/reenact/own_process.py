"""How reenact starts itself: nothing of the current folder is imported on the way; and where a test
ends it.

`python -m` puts the current folder first on the import path, and a relative entry of PYTHONPATH
puts it there as well; a `json.py` in a repository would then run with the user's rights. So every
process of ours is started with the argument vector and the environment made here.

Covered: modules in the current folder, `sitecustomize.py` among them, in processes that reenact
starts. Not covered: a `python -m reenact` that the user types, before our first line runs; the
user's own program, which sees its folder as it would without us.

Armed crash points are places where a test may kill the process as a power cut would.
`crash_point("C6")` does nothing unless REENACT_CRASH_AT names it (`C6`, or `C6:3` for the third
time it is passed). Then the process dies by SIGKILL at once: no clean-up, no flush, no exit
handler.
"""

import os
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

KEPT = "REENACT_KEPT_PYTHONPATH"
"""The user's PYTHONPATH while a process of ours starts: their programs get it back."""
_HOME = Path(__file__).resolve().parent.parent
"""The folder that reenact itself is imported from, which stays on the path."""
_passed: Counter[str] = Counter()

PROGRESS_FILE = "REENACT_PROGRESS_FILE"


def own_command(*words: str) -> list[str]:
    """The argument vector of `reenact WORDS`."""
    return own_module("reenact", *words)


def own_module(module: str, *words: str) -> list[str]:
    """The argument vector that runs a module of our own environment."""
    return [sys.executable, "-P", "-m", module, *words]


def own_environment(base: Mapping[str, str] | None = None) -> dict[str, str]:
    """`base` (default: ours) for a process of ours: no entry of PYTHONPATH depends on the
    current folder.
    """
    found = dict(os.environ if base is None else base)
    path = found.get("PYTHONPATH")
    if path and _relative(path):
        kept = [entry for entry in path.split(os.pathsep) if Path(entry).is_absolute()]
        kept += [str(_HOME)] if _HOME in _relative(path) else []
        found |= {KEPT: path, "PYTHONPATH": os.pathsep.join(kept)}
    return found


def become_own_command(*words: str) -> NoReturn:
    """Replace this process by `reenact WORDS`."""
    os.execve(  # noqa: S606
        sys.executable,
        own_command(*words),
        own_environment(),
    )


def leave_folder() -> None:
    """Take the current folder off the import path of this process, and give PYTHONPATH back to the
    user's programs. The first thing that a command does.
    """
    left = _relative(os.environ.get("PYTHONPATH", "")) - {_HOME}
    if left:
        sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() not in left]
    if KEPT in os.environ:
        os.environ["PYTHONPATH"] = os.environ.pop(KEPT)


def leave_first_entry() -> None:
    """Take off what `python -m` has put first on the path: the current folder, unless it is our
    own.
    """
    if not sys.flags.safe_path and Path(sys.path[0]).resolve() != _HOME:
        del sys.path[0]


def _relative(path: str) -> set[Path]:
    """The folders of the entries that depend on the current folder; an empty entry is the
    folder itself.
    """
    entries = path.split(os.pathsep) if path else []
    return {Path(entry).resolve() for entry in entries if not Path(entry).is_absolute()}


def crash_point(name: str) -> None:
    """Die here if a test armed this point."""
    armed = os.environ.get("REENACT_CRASH_AT")
    if armed is None or armed.partition(":")[0] != name:
        return
    from signal import SIGKILL

    _passed[name] += 1
    if _passed[name] == int(armed.partition(":")[2] or 1):
        os.kill(os.getpid(), SIGKILL)


def progress_file() -> str | None:
    """Where who started this command reads its progress; none where no one does."""
    return os.environ.get(PROGRESS_FILE)
