"""What a look at the code came to, before anybody calls it a verdict."""

from __future__ import annotations

from dataclasses import dataclass

from reenact.paper.criterion import CodeLine, Criterion, Judged, Value


@dataclass(frozen=True, slots=True)
class Finding:
    """What a program saw of one criterion."""

    value: Value | None
    """Pass or fail; none when a program cannot tell, and what it saw is a hint."""
    seen: str
    lines: tuple[CodeLine, ...] = ()
    refutes: bool = False
    """A function gave other values than the formula: no judge may call that a pass."""

    def judged(self, criterion: Criterion, value: Value) -> Judged:
        return Judged(criterion.id, value, "check", self.seen, self.lines)


NOTHING = Finding(None, "A program found nothing that it could compare.")


def unjudged(criterion: Criterion, reason: str, lines: tuple[CodeLine, ...] = ()) -> Judged:
    """Nobody could tell, and why."""
    return Judged(criterion.id, Value.UNKNOWN, "nobody", reason, lines)
