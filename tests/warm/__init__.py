"""Warm interpreters for the programs that tests train and for the commands that they give: the
imports of torch are paid once, and so are those of reenact.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent


def make_environment() -> Path:
    """A folder like that of a virtual environment, whose `python` hands its program to a warm
    server, and whose `reenact` its command to another one.

    The folder and the servers go when this process ends.
    """
    folder = Path(tempfile.mkdtemp(prefix="reenact-warm-"))
    atexit.register(_remove, folder, os.getpid())
    (folder / "bin").mkdir()
    commands = "commands"
    for name, server, words in (
        ("python", "warm", ""),
        ("reenact", commands, "-m reenact "),
        ("python-of-commands", commands, ""),
    ):
        starter = (
            f'"{sys.executable}" -I -S "{HERE / "python.py"}" "{folder / server}" {os.getpid()}'
        )
        script = folder / "bin" / name
        script.write_text(f'#!/bin/sh\nexec {starter} {words}"$@"\n', encoding="utf-8")
        script.chmod(0o755)
    return folder


def warm_reenact() -> str:
    """`reenact` for tests of what a command does, not of how its process starts: a process of its
    own all the same, with its arguments, environment, folder, output, signals and exit code.
    """
    return str(Path(os.environ["WARM_FOLDER"]) / "bin" / "reenact")


def warm_python_of_commands() -> str:
    """An interpreter that has imported reenact, for programs that use it."""
    return f"{warm_reenact().removesuffix('reenact')}python-of-commands"


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
