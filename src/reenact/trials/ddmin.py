"""Delta debugging: the smallest part of the changes that still does the job (Zeller &
Hildebrandt 2002).
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

Change = TypeVar("Change")


def minimise(
    changes: Sequence[Change], suffices: Callable[[tuple[Change, ...]], bool]
) -> tuple[Change, ...]:
    """A subset that suffices and of which no single change can be left out.

    `suffices(all changes)` is taken as known to be true and not asked. No subset is asked about
    twice.
    """
    answers: dict[frozenset[int], bool] = {}

    def asks(indices: tuple[int, ...]) -> bool:
        key = frozenset(indices)
        if key not in answers:
            answers[key] = suffices(tuple(changes[index] for index in indices))
        return answers[key]

    kept = tuple(range(len(changes)))
    parts = 2
    while len(kept) > 1:
        chunks = _split(kept, parts)
        smaller = _first_sufficient(kept, chunks, asks)
        if smaller is not None:
            kept = smaller
            parts = max(2, min(parts - 1, len(smaller)))
        elif parts >= len(kept):
            break
        else:
            parts = min(len(kept), 2 * parts)
    if len(kept) == 1 and asks(()):
        kept = ()
    return tuple(changes[index] for index in kept)


def _first_sufficient(
    kept: tuple[int, ...],
    chunks: list[tuple[int, ...]],
    asks: Callable[[tuple[int, ...]], bool],
) -> tuple[int, ...] | None:
    """A chunk alone first (the larger step), then everything but one chunk."""
    for chunk in chunks:
        if len(chunk) < len(kept) and asks(chunk):
            return chunk
    for chunk in chunks:
        rest = tuple(index for index in kept if index not in chunk)
        if rest and asks(rest):
            return rest
    return None


def _split(
    items: tuple[int, ...],
    parts: int,
) -> list[tuple[int, ...]]:
    """So many chunks of nearly equal size, the first ones longer by one."""
    size, extra = divmod(len(items), parts)
    starts = [number * size + min(number, extra) for number in range(parts + 1)]
    return [items[start:end] for start, end in pairwise(starts) if start < end]
