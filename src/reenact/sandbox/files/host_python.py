"""Runs a script of ours on the host while the current folder belongs to an untrusted program.

Covered: modules in the folder that are named like those of the standard library, sitecustomize, .pth files,
byte code, PYTHON* variables, the user's own site folder: none is looked at. The script gets a clean
environment and a deadline. Not covered: what the script itself does with what it reads; untrusted code goes
into a box.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from reenact.errors import ReenactError

_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/nonexistent"}


def run_host_python(
    script: str, *arguments: str, folder: Path, stdin: bytes = b"", wall_s: float = 30.0
) -> bytes:
    """What our `script` prints when run in `folder`. Raises ReenactError when it fails or takes too long."""
    argv = [sys.executable, "-I", "-B", "-X", "utf8", "-c", script, *arguments]
    try:
        done = subprocess.run(  # noqa: S603 - our own script, isolated
            argv, cwd=folder, input=stdin, env=_ENVIRONMENT, capture_output=True, timeout=wall_s, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise ReenactError(f"A helper of ours did not end within {wall_s:g} s.") from error
    if done.returncode != 0:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise ReenactError(f"A helper of ours ended with status {done.returncode}: {' '.join(last)}")
    return done.stdout
