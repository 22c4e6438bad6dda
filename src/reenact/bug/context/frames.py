"""Frames of a report's traceback -> chunks of this checkout, though they come from another machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from reenact.bug.context.clues import Frame
from reenact.bug.context.code import Code

_INSTALLED = ("site-packages", "dist-packages")


def locate_frames(code: Code, frames: Sequence[Frame]) -> dict[int, tuple[int, Frame]]:
    """Chunks that frames lie in, with the distance from the innermost one of the project.

    Paths are matched by their ends. A line that has moved since is found by its function.
    """
    found: dict[int, tuple[int, Frame]] = {}
    for frame in reversed(frames):
        file = _file_of(code, frame.path)
        number = _chunk_of(code, file, frame) if file is not None else None
        if number is not None and number not in found:
            found[number] = (len(found), frame)
    return found


def shared_end(one: PurePosixPath, other: PurePosixPath) -> int:
    """How many last parts two paths share."""
    shared = 0
    for left, right in zip(reversed(one.parts), reversed(other.parts), strict=False):
        if left != right:
            break
        shared += 1
    return shared


def _chunk_of(code: Code, file: int, frame: Frame) -> int | None:
    numbers = code.index.by_file.get(file, ())
    by_line = [one for one in numbers if code.chunk(one).first <= frame.line <= code.chunk(one).last]
    by_name = [one for one in numbers if _defines(code, one, frame.function)] if frame.function else []
    both = [one for one in by_line if one in by_name]
    # A function that is not there under this name may be nested, or renamed: the line decides.
    return next(iter(both or by_name or by_line), None)


def _defines(code: Code, number: int, function: str) -> bool:
    return any(name.rpartition(".")[2] == function for name in code.chunk(number).defines)


def _file_of(code: Code, path: PurePosixPath) -> int | None:
    """The file whose path ends like this one; its name alone suffices when no other file bears it."""
    needed = _needed(path)
    ends = [(shared_end(one, path), -len(one.parts), n) for n, one in enumerate(code.index.paths)]
    longest = max(ends, default=(0, 0, 0))
    if longest[0] < max(1, needed):
        return None
    rivals = sum(end[0] == longest[0] for end in ends)
    certain = longest[0] > 1 or (rivals == 1 and path.name != "__init__.py")
    return longest[2] if certain else None


def _needed(path: PurePosixPath) -> int:
    """How much of a path must agree: all that follows the folder of installed packages, else its name."""
    for place in _INSTALLED:
        if place in path.parts:
            return len(path.parts) - path.parts.index(place) - 1
    # The standard library: no file of ours is ever meant.
    return len(path.parts) if any(part.startswith("python3") for part in path.parts) else 1
