"""Other Pythons of this machine: those on PATH, of pyenv and of uv, and those that uv can bring.

Covered: an interpreter is asked what it is without `site`, so that no file of its packages runs; a
new one comes from where the user lets uv fetch from, into the cache and nowhere else. Not covered:
what an installed interpreter does that somebody tampered with.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TypeAlias

from reenact.errors import InputError, ReenactError, Stopped
from reenact.host_program import find_program
from reenact.sandbox.environments.install import run_installer
from reenact.sandbox.environments.stored import ask_interpreter
from reenact.types import Stop

Minor: TypeAlias = tuple[int, int]
"""A series of Python, as (3, 8)."""
OLDEST: Minor = (3, 8)
"""What watches a script needs at least this."""
_NEWEST = 20
_VERSION = re.compile(r"(\d+)\.(\d+)")


def minor_of(python: str) -> Minor:
    """The series of an interpreter."""
    # "cpython-38 3.8.18 linux-x86_64 glibc"
    version = _VERSION.search(ask_interpreter(python).kind.partition(" ")[2])
    return (int(version[1]), int(version[2])) if version is not None else (0, 0)


def find_python(wanted: Minor, pythons: Path | None = None) -> str:
    """An interpreter of a series on this machine; empty where there is none. `pythons` is the
    folder of those that uv brought.
    """
    for path in _candidates(wanted, pythons):
        with suppress(InputError):
            if minor_of(path) == wanted:
                return path
    return ""


def bring_python(wanted: Minor, pythons: Path, stop: Stop | None) -> str:
    """The same, fetched by uv where it is not here and can be had; else empty."""
    found = find_python(wanted, pythons)
    uv = find_program("uv")
    if found or uv is None or wanted < OLDEST:
        return found
    version = ".".join(map(str, wanted))
    argv = [uv, "python", "install", "--quiet", "--no-progress", "--install-dir", str(pythons)]
    try:
        run_installer([*argv, "--no-bin", version], failure=ReenactError, stop=stop)
    except Stopped:
        raise
    except ReenactError:
        return ""
    return find_python(wanted, pythons)


@cache
def pythons_here(pythons: Path | None = None) -> tuple[str, ...]:
    """One interpreter of each series on this machine."""
    series = ((3, minor) for minor in range(OLDEST[1], _NEWEST))
    return tuple(path for path in (find_python(one, pythons) for one in series) if path)


def _candidates(wanted: Minor, pythons: Path | None) -> Iterator[str]:
    name = f"python{wanted[0]}.{wanted[1]}"
    # A shim starts whichever version some file names: the installations themselves are looked at.
    on_path = find_program(name)
    if on_path is not None and "shims" not in Path(on_path).parts:
        yield on_path
    homes = [Path.home() / ".pyenv" / "versions", Path.home() / ".local/share/uv/python"]
    for home in (*homes, *filter(None, [pythons])):
        for folder in sorted(home.glob("*"), reverse=True):
            path = folder / "bin" / name
            if path.exists():
                yield str(path)
