"""A warm interpreter for the programs that tests train: the imports of torch are paid once a worker."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent


def make_environment(folder: Path) -> None:
    """A folder like that of a virtual environment, whose `python` hands its program to a warm server."""
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True)
    starter = f'exec "{sys.executable}" -I -S "{HERE / "python.py"}" "{folder / "warm"}" {os.getpid()} "$@"'
    python.write_text(f"#!/bin/sh\n{starter}\n", encoding="utf-8")
    python.chmod(0o755)
