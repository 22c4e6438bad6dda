"""How much was edited until the code ran and held: turns a run, lines a turn (AutoReproduce, 5.6)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Purpose: TypeAlias = Literal["debugging", "refinement"]


@dataclass(frozen=True, slots=True)
class Edit:
    """One turn of editing."""

    stage: str
    """The stage it belongs to: data, method, experiment, ..."""
    purpose: Purpose
    lines: int
    """Lines that it changed."""


@dataclass(frozen=True, slots=True)
class EditedRun:
    """All edits of one run; only runs that ended in code that executes count."""

    edits: tuple[Edit, ...]
    executes: bool


@dataclass(frozen=True, slots=True)
class EditScore:
    """One cell pair of the study's table."""

    stage: str
    purpose: Purpose
    runs: int
    turns: float
    """N_turns / N_runs."""
    lines: float | None
    """N_lines / N_turns; none without a turn."""


def edit_scores(runs: Sequence[EditedRun], stages: Iterable[str] = ()) -> tuple[EditScore, ...]:
    """Turns and lines by stage and purpose, over the runs that execute; nothing where none does."""
    counted = [run for run in runs if run.executes]
    if not counted:
        return ()
    edits = [edit for run in counted for edit in run.edits]
    named = list(dict.fromkeys((*stages, *(edit.stage for edit in edits))))
    purposes: tuple[Purpose, ...] = ("debugging", "refinement")
    return tuple(_score(edits, stage, purpose, len(counted)) for stage in named for purpose in purposes)


def _score(edits: Sequence[Edit], stage: str, purpose: Purpose, runs: int) -> EditScore:
    own = [edit for edit in edits if edit.stage == stage and edit.purpose == purpose]
    lines = sum(edit.lines for edit in own) / len(own) if own else None
    return EditScore(stage, purpose, runs, len(own) / runs, lines)
