"""How much was edited until the code ran and held: turns a run, lines a turn (AutoReproduce, 5.6).

The edits of a recorded run of `reenact paper` are read from its journal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from pydantic import ValidationError

from reenact.codegen.edits import Edited
from reenact.errors import InputError
from reenact.journal import JournalReader, Kind, Run, State, Step
from reenact.types import ExitCode

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


STORY = "paper"
_PURPOSES: Mapping[str, Purpose] = {"mend": "debugging", "revise": "refinement", "refactor": "refinement"}
_STAGE = re.compile(r"(?:^|/)(\w+)(?:\[\d+\])?(?:/debug\[\d+\])?/(?:mend|revise|refactor)$")
_EXECUTED = (ExitCode.OK, ExitCode.FOUND)


def edited_run(journal: JournalReader, name: str) -> EditedRun:
    """All edits of the run of that id. It executes when it came to a verdict about the paper's numbers."""
    run = journal.find(name)
    if run.pipeline != STORY:
        raise InputError(
            f"The run {run.id} is one of `reenact {run.pipeline}`; only those of `reenact {STORY}` edit code."
        )
    steps = [step for step in journal.steps(run) if step.kind is Kind.LLM and step.state is State.DONE]
    found = (_edit(step, journal.result(step)) for step in steps)
    return EditedRun(tuple(edit for edit in found if edit is not None), _executes(run))


def _executes(run: Run) -> bool:
    return run.exit_code in _EXECUTED


def _edit(step: Step, result: Any) -> Edit | None:
    """The edit that a step made; none for a step that makes none."""
    purpose = _PURPOSES.get(step.path.rpartition("/")[2])
    stage = _STAGE.search(step.path)
    if purpose is None or stage is None or not isinstance(result, Mapping):
        return None
    try:
        lines = lines_in(Edited.model_validate(result.get("value")))
    except ValidationError:
        return None
    return Edit(stage[1], purpose, lines) if lines else None


def lines_in(change: Edited) -> int:
    """Lines that were replaced or written, whichever are more."""
    ranges = sum(max(one.last - one.first + 1, len(one.text.splitlines())) for one in change.lines)
    swaps = sum(max(len(one.search.splitlines()), len(one.replace.splitlines())) for one in change.swaps)
    return ranges + swaps + sum(len(one.text.splitlines()) for one in change.files)
