"""A warm interpreter for the programs that tests train: the imports of torch are paid once."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent


def make_environment(run: str) -> Path:
    """A folder like that of a virtual environment, whose `python` hands its program to a warm server.

    All workers of a test run share it. The server removes it when the process that started them has ended.
    """
    folder = Path(tempfile.gettempdir()) / f"reenact-warm-{run}"
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True, exist_ok=True)
    parent = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()
    starter = f'exec "{sys.executable}" -I -S "{HERE / "python.py"}" "{folder / "warm"}" {parent} "$@"'
    half = python.with_name(f"{os.getpid()}")
    half.write_text(f"#!/bin/sh\n{starter}\n", encoding="utf-8")
    half.chmod(0o755)
    half.replace(python)
    return folder
