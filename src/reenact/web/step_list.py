"""A page of a run's steps. Numbers count from 1 without gaps, so a page is found by where it begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from reenact.journal import JournalReader, Kind, Run, State, Step
from reenact.report.run_words import cost_of, short, state_of, time_of

PAGE = 100
SENTENCE = 120


@dataclass(frozen=True, slots=True)
class StepRow:
    """One step in the list."""

    nr: int
    path: str
    kind: str
    state: str
    time: str
    cost: str
    error: str
    tone: str


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of the list, and the addresses of those around it."""

    rows: tuple[StepRow, ...]
    kind: str
    state: str
    under: str
    counted: str
    first: str
    before: str
    next: str
    kinds: tuple[str, ...] = tuple(kind.value for kind in Kind)
    states: tuple[str, ...] = tuple(state.value for state in State)

    @property
    def is_filtered(self) -> bool:
        return bool(self.kind or self.state or self.under)


def listing(shelf: JournalReader, run: Run, given: Mapping[str, str], most: int = PAGE) -> Listing:
    """The page that the words of an address ask for."""
    kind, state = given.get("kind", ""), given.get("state", "")
    under = given.get("under", "").strip().strip("/")[:500]
    after = given.get("after", "0")
    begin = int(after) if after.isdecimal() and len(after) < 10 else 0
    wanted = {"kind": kind, "state": state, "under": under}
    found = shelf.some_steps(
        run,
        under=under or None,
        kind=Kind(kind) if kind in set(Kind) else None,
        state=State(state) if state in set(State) else None,
        after=begin,
        limit=most + 1,
    )
    shown = found[:most]
    filtered = any(wanted.values())
    more = len(found) > most

    def at(start: int) -> str:
        words = {name: value for name, value in {**wanted, "after": start}.items() if value}
        return f"/runs/{run.id}/steps?{urlencode(words)}"

    return Listing(
        rows=tuple(map(_row, shown)),
        kind=kind,
        state=state,
        under=under,
        counted=_counted(shown, run, filtered, more),
        first=at(0) if begin else "",
        before=at(max(0, begin - PAGE)) if begin and not filtered else "",
        next=at(shown[-1].nr) if more else "",
    )


def _counted(shown: list[Step], run: Run, filtered: bool, more: bool) -> str:
    if not shown:
        return ""
    if filtered:
        return f"{len(shown)} shown{', there are more' if more else ''}, of {run.steps:,} steps in all"
    return f"{shown[0].nr:,} to {shown[-1].nr:,} of {run.steps:,} steps"


def _row(step: Step) -> StepRow:
    return StepRow(
        nr=step.nr,
        path=step.path,
        kind=step.kind.value,
        state=state_of(step),
        time=time_of(step.duration_s),
        cost=cost_of(step.money or "0", step.tokens_in + step.tokens_out, int(step.money is None)),
        error=short(f"{step.error_type}: {step.error}", SENTENCE) if step.error_type else "",
        tone="failed" if step.state is State.FAILED else "",
    )
