"""Where in the user's source something was made: the innermost frame that is not library code."""

from __future__ import annotations

import itertools
import os
import sys
import sysconfig
import tempfile
import time
import weakref
from types import CodeType, FrameType
from typing import Any

from reenact_probe.types import Place

LIBRARY: dict[str, bool] = {}
"""By file name, once it was asked: whether it belongs to a library."""
_POSITIONS: dict[tuple[int, int], tuple[CodeType, Place]] = {}
"""By a code object's identity and the instruction in it: the table after it is read from its
beginning.
"""
_MOST_POSITIONS = 10_000
_HERE = os.path.dirname(os.path.abspath(__file__))
_STDLIB = tuple(
    {os.path.realpath(sysconfig.get_paths()[key]) + os.sep for key in ("stdlib", "platstdlib")}
)
_PACKAGES = (
    os.sep + "site-packages" + os.sep,
    os.sep + "dist-packages" + os.sep,
)
_TEMPORARY = os.path.realpath(tempfile.gettempdir())
_BEGAN = time.time()
_COMPILED = (".pyx", ".pxd", ".pxi")
"""Endings of Cython's sources: frames of a compiled package name files that are not installed
with it.
"""


def is_library(filename: str) -> bool:
    """Whether a source file belongs to an installed package, the standard library or the probe."""
    known = LIBRARY.get(filename)
    if known is None:
        known = LIBRARY[filename] = _looks_like_library(filename)
    return known


def _looks_like_library(filename: str) -> bool:
    if filename.startswith("<"):
        return not filename.startswith("<ipython")
    path = os.path.realpath(filename)
    if filename.endswith(_COMPILED) and not os.path.exists(path):
        return True
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    folder = os.path.dirname(os.path.realpath(main)) + os.sep if main else ""
    # The main script itself may lie among installed packages: what is next to it is the program.
    own = any(part in folder for part in _PACKAGES) and path.startswith(folder)
    installed = path.startswith(_STDLIB) or any(part in path for part in _PACKAGES)
    return path.startswith(_HERE) or (installed and not own) or _is_generated(path, folder)


def _is_generated(path: str, folder: str) -> bool:
    """Whether a library wrote this file to run it: it is among the temporary files, and neither by the
    main script nor in a folder that the program works in or imports from.
    """
    # The cells of a notebook have names of files that do not exist.
    if not path.startswith(_TEMPORARY + os.sep) or not os.path.exists(path):
        return False
    if os.path.dirname(path) == _TEMPORARY:
        # A script may be here itself, next to what was written since it began.
        return os.path.getmtime(path) > _BEGAN
    imported = (os.path.realpath(entry or os.curdir) for entry in sys.path)
    folders = (os.path.dirname(folder), os.path.realpath(os.curdir), *imported)
    known = (one for one in folders if one.startswith(_TEMPORARY + os.sep))
    return not any(path.startswith(one + os.sep) for one in known)


def of_probe(filename: str) -> bool:
    """Whether a source file is the probe's own."""
    return filename.startswith(_HERE + os.sep)


def caller(made: Any = None) -> Place | None:
    """`[file, line, column, end line, end column]` of the user's frame, or none.

    With `made`, frames of the object's own `__init__` chain are passed over: a layer is made where
    its class is called, not where its class calls `super().__init__()`.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if not is_library(code.co_filename):
            builds = made is not None and code.co_name == "__init__" and bool(code.co_varnames)
            if not builds or frame.f_locals.get(code.co_varnames[0]) is not made:
                return position(frame)
        frame = frame.f_back
    return None


def callers(most: int) -> tuple[tuple[str, int], ...]:
    """File and line of the frames of the program that led here, the innermost first."""
    found: list[tuple[str, int]] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and len(found) < most:
        if not is_library(frame.f_code.co_filename):
            found.append((frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return tuple(found)


def position(frame: FrameType) -> Place:
    """The place a frame is at; columns where the interpreter knows them (3.11 and later)."""
    code = frame.f_code
    key = (id(code), frame.f_lasti)
    known = _POSITIONS.get(key)
    if known is None or known[0] is not code:
        if len(_POSITIONS) >= _MOST_POSITIONS:
            _POSITIONS.clear()
        known = _POSITIONS[key] = (code, _read_position(frame, code))
    return known[1]


def _read_position(frame: FrameType, code: CodeType) -> Place:
    positions: Any = getattr(code, "co_positions", tuple)()
    at = next(
        itertools.islice(positions, frame.f_lasti // 2, None),
        (None,) * 4,
    )
    line, end_line, column, end_column = at
    if line is None or column is None:
        return [code.co_filename, frame.f_lineno, 0, 0, 0]
    return [code.co_filename, line, column, end_line, end_column]


def around_probe(
    frame: FrameType | None,
    filename: str,
    line: int,
) -> tuple[str, int] | None:
    """Who called the function that the probe called again, where this is a line of the probe;
    else none.
    """
    if not os.path.abspath(filename).startswith(_HERE + os.sep):
        return None
    called: FrameType | None = None
    while frame is not None and (frame.f_code.co_filename, frame.f_lineno) != (
        filename,
        line,
    ):
        called, frame = frame, frame.f_back
    while frame is not None and called is not None:
        if frame.f_code is called.f_code and frame.f_back is not None:
            return frame.f_back.f_code.co_filename, frame.f_back.f_lineno
        frame = frame.f_back
    return None


class Made:
    """Places by identity. Nothing is stored on the object: nothing of ours is pickled or copied
    with it.
    """

    def __init__(self) -> None:
        self._places: dict[int, tuple[Any, Place]] = {}

    def note(self, thing: Any) -> None:
        """Remember the user's line that is making `thing` right now."""
        key = id(thing)

        def forget(ref: Any) -> None:
            if self._places.get(key, (None,))[0] is ref:
                del self._places[key]

        place = caller(made=thing) if self.place(thing) is None else None
        if place is not None:
            self._places[key] = (weakref.ref(thing, forget), place)

    def place(self, thing: Any) -> Place | None:
        known = self._places.get(id(thing))
        if known is not None and known[0]() is thing:
            return known[1]
        return None
