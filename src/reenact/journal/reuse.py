"""What a run took from an earlier execution or from finished runs, in one line for the reader.

Whoever reads a result must know which parts of it were not made now, and how to have all of it made again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime

from reenact.journal.records import Kind, Run, Step

WORDS = {Kind.TRIAL: "training", Kind.LLM: "model answer"}
NAMED = 3
"""Runs that are named one by one; more of them are counted."""


def continued_line(run: Run, kept: int, interrupted_at: str, now: datetime) -> str:
    """That an interrupted run went on; empty when nothing of it was kept."""
    if not kept:
        return ""
    when = clock_time(interrupted_at, now)
    verb = "is" if kept == 1 else "are"
    return (
        f"Continued run {run.id}, interrupted {when}: {_counted(kept, 'finished step')} {verb} kept."
        " --fresh starts over."
    )


def reused_line(taken: Iterable[Step], ended: Mapping[str, str | None], now: datetime) -> str:
    """What was taken from finished runs; `ended` says when each of them ended. Empty for nothing."""
    steps = [step for step in taken if step.reused_from]
    if not steps:
        return ""
    names = list(dict.fromkeys(step.reused_from or "" for step in steps))
    sources = [f"{name} ({clock_time(when, now)})" if (when := ended.get(name)) else name for name in names]
    where = f"run {sources[0]}" if len(sources) == 1 else f"runs {', '.join(sources)}"
    if len(sources) > NAMED:
        where = f"{len(sources)} runs, the last {sources[-1]}"
    counts = Counter(WORDS.get(step.kind, "step") for step in steps)
    what = ", ".join(_counted(number, word) for word, number in counts.items())
    return f"Reused from {where}: {what}. --fresh runs everything again."


def clock_time(moment: str, now: datetime) -> str:
    """The time of the reader's clock, with the date when that is another day."""
    then, today = datetime.fromisoformat(moment).astimezone(), now.astimezone()
    return f"{then:%H:%M}" if then.date() == today.date() else f"{then:%Y-%m-%d %H:%M}"


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
