"""Facts about an interpreter: what decides which packages fit it and where its installation lies."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from functools import cache

from reenact.errors import InputError

_ASK = (
    "import json, os, sys, sysconfig, platform; print(json.dumps([sys.implementation.cache_tag, "
    "platform.python_version(), sysconfig.get_platform(), platform.libc_ver()[0], "
    "os.path.realpath(sys.base_prefix)]))"
)


@dataclass(frozen=True, slots=True)
class Interpreter:
    """One Python installation."""

    tag: str
    version: str
    platform: str
    libc: str
    folder: str
    """Where the installation lies."""

    def __str__(self) -> str:
        return f"{self.tag} {self.version} {self.platform} {self.libc} {self.folder}"


@cache
def ask_interpreter(python: str) -> Interpreter:
    """The facts about the interpreter at a path."""
    try:
        # Without `site`: the facts are those of the bare interpreter, and no .pth file need run for them.
        done = subprocess.run(  # noqa: S603 - the interpreter that the user chose
            [python, "-I", "-S", "-c", _ASK], capture_output=True, text=True, timeout=60, check=True
        )
        return Interpreter(*json.loads(done.stdout))
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise InputError(f"This is no Python interpreter that works. Received: python={python!r}") from error
