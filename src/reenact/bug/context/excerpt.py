"""A long definition shortened: its head, then the lines that matter with their neighbours, then the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from reenact.bug.context.words import estimate_tokens

HEAD = 6
GAP = 45
"""Characters of the line that stands for left out ones; so few are shown instead."""
REACHES = (2, 6, 12)
"""Lines around one that matters, taken in so many steps."""


def excerpt(lines: Sequence[str], focus: Iterable[int], last_resort: Iterable[int], most_tokens: int) -> str:
    """The lines within a budget, empty when none fits. `focus` is best first; lines count from 0."""
    whole = "\n".join(lines)
    if estimate_tokens(whole) <= most_tokens:
        return whole
    late = set(last_resort)
    kept: set[int] = set()
    # A gap costs a line of its own; there are at most as many as steps that jump.
    room = int(most_tokens * 3.2) - 60
    for line in _by_importance(len(lines), list(dict.fromkeys(focus)), late):
        if line in kept:
            continue
        cost = len(lines[line]) + 1 + (0 if line - 1 in kept or line + 1 in kept else GAP)
        if cost > room:
            break
        room -= cost
        kept.add(line)
    if not kept:
        return ""
    return "\n".join(_with_gaps(lines, sorted(kept)))


def _by_importance(count: int, focus: list[int], late: set[int]) -> Iterator[int]:
    yield from range(min(HEAD, count))
    done = 0
    for reach in REACHES:
        for line in focus:
            near = range(max(0, line - reach), min(count, line + reach + 1))
            yield from (one for one in near if abs(one - line) >= done or not done)
        done = reach
    yield from (line for line in range(count) if line not in late)
    yield from range(count)


def _with_gaps(lines: Sequence[str], kept: list[int]) -> Iterator[str]:
    before = -1
    indent = ""
    for line in [*kept, len(lines)]:
        missing = lines[before + 1 : line]
        if sum(len(one) + 1 for one in missing) <= GAP:
            yield from missing
        elif missing:
            yield f"{indent}# ... {len(missing)} lines left out ..."
        if line < len(lines):
            yield lines[line]
            if lines[line].strip():
                indent = lines[line][: len(lines[line]) - len(lines[line].lstrip())]
        before = line
