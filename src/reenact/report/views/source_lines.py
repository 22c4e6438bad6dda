"""Source in a finding: the accused line with its mark, and the lines that a change takes away and puts in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reenact.diagnosis.accused import SourceFile
from reenact.errors import ReenactError
from reenact.program.patch import Patch
from reenact.program.program import Program
from reenact.types import Place

WIDE = 84
"""Characters of a source line that are shown."""
MOST_LINES = 6


def source_lines(place: Place | None, files: Sequence[SourceFile]) -> Iterator[str]:
    """The accused line with a mark below the accused part."""
    text = next((one.text for one in files if place is not None and one.file == str(place.file)), "")
    lines = text.split("\n")
    if place is None or not 0 < place.line <= len(lines) or not lines[place.line - 1]:
        return
    line = lines[place.line - 1]
    cut = len(line) - len(line.lstrip())
    end = place.end_column if place.end_line in (0, place.line) and place.end_column else len(line)
    start = max(place.column, cut)
    left = _left(line, cut, start)
    mark = " " * (start - left) + "^" * max(1, min(end, len(line), left + WIDE) - start)
    yield f"{place.line:>5} | {_window(line, left, cut)}"
    yield f"      | {mark}"


def changed_lines(patch: Patch, program: Program | None) -> Iterator[str]:
    """What a change takes away and puts in; nothing when that is long or does not apply."""
    if program is None:
        return
    try:
        text = patch.diff(program)
    except ReenactError:
        return
    lines = [line for line in text.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    if not lines or len(lines) > MOST_LINES:
        return
    cut = min(len(line[1:]) - len(line[1:].lstrip()) for line in lines)
    for line, changed in zip(lines, _differences(lines), strict=True):
        yield f"{line[0]} {_window(line[1:], _left(line[1:], cut, changed), cut)}"


def _differences(lines: Sequence[str]) -> list[int]:
    """For each line the first column in which it differs from the one in whose place it stands."""
    sides = {sign: [line[1:] for line in lines if line[0] == sign] for sign in "-+"}
    seen = dict.fromkeys("-+", 0)
    found = []
    for line in lines:
        others = sides["+" if line[0] == "-" else "-"]
        at = seen[line[0]]
        seen[line[0]] += 1
        other = others[at] if at < len(others) else line[1:]
        pairs = enumerate(zip(line[1:], other, strict=False))
        found.append(next((column for column, (one, two) in pairs if one != two), 0))
    return found


def _left(line: str, cut: int, wanted: int) -> int:
    """Where the shown part of a line begins, so that the wanted column is in it."""
    if len(line) - cut <= WIDE or wanted - cut < WIDE // 2:
        return cut
    return min(wanted - WIDE // 2, len(line) - WIDE)


def _window(line: str, left: int, cut: int) -> str:
    shown = line[left : left + WIDE]
    head = f"…{shown[1:]}" if left > cut else shown
    return f"{head[:-1]}…" if left + WIDE < len(line) else head
