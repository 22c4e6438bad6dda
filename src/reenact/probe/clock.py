"""How busy this machine is, by the same measure as in a watched program."""

from __future__ import annotations

from reenact.probe import injected


def contention() -> float:
    """How many times as long a stretch of work takes because of other programs; at least 1."""
    return float(injected.part("clock").contention())
