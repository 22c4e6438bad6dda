"""Whether an environment is still that of its interpreter once packages were installed into it.

A wheel may bring any file to `bin/` and to the folder itself (its data files), and pip writes over
what is there: with its own `bin/python` or `pyvenv.cfg` a package would decide which interpreter is
started, and with which folders. Such an environment is refused.
"""

import os
import re
from pathlib import Path

from reenact.errors import InputError
from reenact.files import read_text

_CONFIGURATION = "pyvenv.cfg"
_INTERPRETER = re.compile(r"python[\d.]*")
_MOST_BYTES = 1 << 16
_NEXT_STEP = "Ask for other packages, or another version of them."


def check_interpreter(folder: Path, python: str) -> None:
    """Raise InputError unless the environment starts `python`, and with nothing else than its
    own folders.
    """
    base = os.path.realpath(python)
    started = [path for path in (folder / "bin").iterdir() if _INTERPRETER.fullmatch(path.name)]
    for link in (
        folder / "bin" / "python",
        *sorted(started),
    ):
        if not link.is_symlink() or os.path.realpath(link) != base:
            raise _replaced(f"bin/{link.name}")
    stated = _stated(folder / _CONFIGURATION)
    home = Path(stated.get("home", ""))
    starts_base = home.is_absolute() and any(
        os.path.realpath(path) == base for path in home.glob("python*")
    )
    if not starts_base or stated.get("include-system-site-packages") != "false":
        raise _replaced(_CONFIGURATION)


def _stated(file: Path) -> dict[str, str]:
    try:
        lines = read_text(file, _MOST_BYTES, errors="replace").splitlines()
    except OSError as error:
        raise _replaced(_CONFIGURATION) from error
    if file.is_symlink():
        raise _replaced(_CONFIGURATION)
    pairs = [line.partition("=") for line in lines]
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def _replaced(name: str) -> InputError:
    return InputError(
        f"A package replaced {name} of the environment, which is not used.",
        next_step=_NEXT_STEP,
    )
