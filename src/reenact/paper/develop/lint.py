"""ruff's rules of plain errors: undefined names, broken formats, statements out of place.

A file is data on ruff's standard input: nothing of it is imported or run. Where ruff is not installed this
says nothing.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from reenact.paper.develop.problem import Problem, Where

RULES = "E9,F50,F63,F7,F82"
WALL_S = 60.0


def linted(name: str, text: str) -> Iterator[Problem]:
    """What ruff finds in one file."""
    program = _ruff()
    if program is None:
        return
    argv = [program, "check", "--isolated", "--no-cache", "--select", RULES, "--output-format", "json", "-"]
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program that only reads
            argv, input=text, capture_output=True, text=True, timeout=WALL_S, check=False, cwd="/"
        )
        found = json.loads(done.stdout or "[]")
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return
    for one in found:
        yield Problem(Where.STATIC, f"{one['message']} ({one['code']})", name, one["location"]["row"])


@cache
def _ruff() -> str | None:
    beside = Path(sys.executable).with_name("ruff")
    return str(beside) if beside.exists() else shutil.which("ruff")
