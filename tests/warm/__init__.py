"""A warm interpreter for the programs that tests train: the imports of torch are paid once."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent


def make_environment() -> Path:
    """A folder like that of a virtual environment, whose `python` hands its program to a warm server.

    The folder and the server go when this process ends.
    """
    folder = Path(tempfile.mkdtemp(prefix="reenact-warm-"))
    atexit.register(_remove, folder, os.getpid())
    python = folder / "bin" / "python"
    python.parent.mkdir()
    starter = f'exec "{sys.executable}" -I -S "{HERE / "python.py"}" "{folder / "warm"}" {os.getpid()} "$@"'
    python.write_text(f"#!/bin/sh\n{starter}\n", encoding="utf-8")
    python.chmod(0o755)
    return folder


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
