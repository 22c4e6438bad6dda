"""Looks at tracebacks: whose code an exception comes out of. Needs nothing but Python."""

from __future__ import annotations

import ast
import os
from types import FrameType, TracebackType
from typing import Any


def where(filename: str, project: str, script: str) -> str:
    """Whose code a file is: script, project or library."""
    path = os.path.realpath(filename)
    if path == os.path.realpath(script):
        return "script"
    inside = path.startswith(os.path.realpath(project) + os.sep) and "site-packages" not in path
    return "project" if inside else "library"


def frames_of(
    trace: TracebackType | None,
    project: str,
    script: str,
) -> list[list[Any]]:
    """Every frame of a traceback, innermost last: whose, file, line, function, function with
    its class.
    """
    found = []
    while trace is not None:
        code = trace.tb_frame.f_code
        whose = where(code.co_filename, project, script)
        if whose == "project" and code not in codes_of(code.co_filename):
            whose = "script"  # Code that only claims to come from that file.
        file = os.path.realpath(code.co_filename)
        if whose != "library":
            root = project if whose == "project" else os.path.dirname(script) or "."
            file = os.path.relpath(
                file,
                os.path.realpath(root),
            )
        qualified = getattr(code, "co_qualname", code.co_name)
        found.append([whose, file, trace.tb_lineno, code.co_name, qualified])
        trace = trace.tb_next
    return found


def blamed(frames: list[list[Any]]) -> str:
    """Whose mistake an exception is: the innermost frame that is not a library's decides."""
    return next(
        (frame[0] for frame in reversed(frames) if frame[0] != "library"),
        "",
    )


def codes_of(filename: str) -> list[Any]:
    """All code objects of a file as it lies on the disk."""
    try:
        with open(filename, "rb") as source:
            waiting = [
                compile(
                    source.read(),
                    filename,
                    "exec",
                    dont_inherit=True,
                )
            ]
    except (OSError, SyntaxError, ValueError):
        return []
    found = []
    while waiting:
        code = waiting.pop()
        found.append(code)
        waiting += [one for one in code.co_consts if hasattr(one, "co_code")]
    return found


def refuses(filename: str, line: int) -> bool:
    """Whether the line is a `raise` or `assert`: what it is given was refused on purpose."""
    try:
        with open(filename, "rb") as source:
            tree = ast.parse(source.read())
    except (OSError, SyntaxError, ValueError):
        return False
    found = (node for node in ast.walk(tree) if isinstance(node, (ast.Raise, ast.Assert)))
    return any(node.lineno <= line <= (node.end_lineno or 0) for node in found)


def is_environment(error: BaseException, roots: list[str], absent: str) -> bool:
    """Whether a module is missing that is not the project's, nor the one whose absence is the
    bug.
    """
    name = (getattr(error, "name", None) or "").split(".")[0]
    places = [os.path.join(root, name + ending) for root in roots for ending in ("", ".py")]
    here = name == absent or any(map(os.path.exists, places))
    return isinstance(error, ModuleNotFoundError) and not here


def in_order(fragments: list[str], text: str) -> bool:
    """Whether all fragments stand in the text, one after another; blanks and case do not matter."""
    rest = " ".join(text.split()).lower()
    for fragment in fragments:
        _, found, rest = rest.partition(fragment)
        if not found:
            return False
    return True


def nearest_owner(frame: FrameType | None, project: str, script: str) -> str:
    """Whose the nearest frame is that is not a library's; empty when there is none."""
    while frame is not None:
        whose = where(frame.f_code.co_filename, project, script)
        if whose != "library":
            return whose
        frame = frame.f_back
    return ""
