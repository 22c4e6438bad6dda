"""A unified diff between two states of a program, in the form that `git apply` takes."""

from __future__ import annotations

import difflib

from reenact.program.program import Program

NO_NEWLINE = "\\ No newline at end of file\n"


def unified_diff(before: Program, after: Program, context: int = 3) -> str:
    """All files that differ, paths relative to the program's folder with `a/` and `b/` in front."""
    pieces: list[str] = []
    for old in before.files:
        new = after.file(old.path)
        if new is not None and new.raw != old.raw:
            pieces += file_diff(str(old.path), old.raw, new.raw, context)
    return "".join(pieces)


def file_diff(path: str, old: str, new: str, context: int = 3) -> list[str]:
    """The diff of one text; lines end at line feeds only, as git sees them."""
    mark = "\t" if " " in path else ""
    lines = difflib.unified_diff(_lines(old), _lines(new), f"a/{path}{mark}", f"b/{path}{mark}", n=context)
    found = []
    for line in lines:
        found.append(line if line.endswith("\n") else f"{line}\n{NO_NEWLINE}")
    return found


def _lines(text: str) -> list[str]:
    parts = text.split("\n")
    lines = [part + "\n" for part in parts[:-1]]
    return [*lines, parts[-1]] if parts[-1] else lines
