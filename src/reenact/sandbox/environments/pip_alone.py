"""Runs pip so that it can start no other program: nothing is built, no repository is cloned.

    python -I pip_alone.py PATH_OF___pip-runner__.py ARGUMENTS...

pip honours `--only-binary` for names alone. A wheel whose metadata asks for `name @ address` of a source
distribution has it downloaded and its build started on the host; the audit hook ends that before it begins.
Covered: every way of Python to start a program. Not covered: faults in pip itself.
Stands alone: it is started by the interpreter that packages are installed for.
"""

import runpy
import sys
from pathlib import Path
from typing import Any

REFUSED = "reenact lets pip start no other program"
_STARTS = frozenset(
    (
        "subprocess.Popen",
        "os.exec",
        "os.fork",
        "os.forkpty",
        "os.posix_spawn",
        "os.spawn",
        "os.system",
    )
) | {"pty.spawn"}
_KEYRING = ("keyring", "get")
"""The user's own store of passwords for indexes, which pip asks when the user's settings say so."""


def refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """The audit hook. An OSError, so that pip does without what it can do without."""
    if event not in _STARTS:
        return
    if event == "subprocess.Popen" and _is_keyring(arguments[1]):
        return
    raise PermissionError(f"{REFUSED}. Received: event={event!r}")


def _is_keyring(words: Any) -> bool:
    if not isinstance(words, (list, tuple)) or not all(isinstance(word, str) for word in words[:2]):
        return False
    return (
        len(words) > 1
        and (
            Path(words[0]).name,
            words[1],
        )
        == _KEYRING
    )


if __name__ == "__main__":
    sys.addaudithook(refuse)
    del sys.argv[0]
    runpy.run_path(sys.argv[0], run_name="__main__")
