"""What running the code and editing it came to: execution rate, performance gap, turns and lines of edits.

Runs are what earlier ones left, and new ones, a seed each, in the sandbox. The gap of one run is
|reference - measured| / max(reference, measured) (AutoReproduce, equation 1); a run that did not execute has
the gap 1. Edits are those of recorded runs of `reenact paper`, until the code ran and held: turns a run,
lines a turn (AutoReproduce, 5.6).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, TypeAlias

from pydantic import ValidationError

from reenact.codegen.edits import Edited
from reenact.errors import InputError, ResultRefused
from reenact.files import read_bytes
from reenact.journal import JournalReader, Kind, State, Step
from reenact.paper.measure.gap import gap_of
from reenact.paper.measure.runs import FullRun
from reenact.sandbox.files.strict_json import MOST_BYTES, read_json
from reenact.types import ExitCode

Purpose: TypeAlias = Literal["debugging", "refinement"]
PIPELINE = "paper"
"""Whose runs edit code."""
PURPOSES: Mapping[str, Purpose] = {"mend": "debugging", "revise": "refinement", "refactor": "refinement"}
"""Steps of a journal that edit."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What one run measured, or why nothing."""

    value: float | None
    why: str = ""


def ended_run(run: FullRun, metric: str) -> Ended:
    """A run of now."""
    if not run.ok:
        return Ended(None, f"Seed {run.seed}: {run.why}")
    if metric not in run.metrics:
        return Ended(None, f"Seed {run.seed}: It left no {metric!r} among its metrics.")
    return Ended(run.metrics[metric])


def left_by(file: Path, metric: str) -> Ended:
    """What a run left in its metrics file; a file that is not there is a run that failed."""
    try:
        metrics = read_json(read_bytes(file, MOST_BYTES))
    except (OSError, ResultRefused) as error:
        return Ended(None, f"{file} counts as a failed run: {error}")
    value = metrics.get(metric) if isinstance(metrics, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Ended(None, f"{file} counts as a failed run: it holds no number called {metric!r}.")
    return Ended(float(value))


@dataclass(frozen=True, slots=True)
class ExecutedScore:
    """The Exec-Score of AutoReproduce."""

    papers: int
    runs: int
    rate: float
    """Share of runs that executed."""
    gap: float
    """Mean gap over all runs, a failure as 1."""
    gap_executed: float | None
    """Mean gap over the runs that executed; none without one."""


def executed_score(reference: float, runs: Sequence[Ended]) -> ExecutedScore | None:
    """`reference` is what the reference implementation reaches; none without a run."""
    if not runs:
        return None
    gaps = [gap_of(reference, one.value) for one in runs]
    executed = [gap for gap, one in zip(gaps, runs, strict=True) if one.value is not None]
    rate, alone = len(executed) / len(runs), fmean(executed) if executed else None
    return ExecutedScore(1, len(runs), rate, fmean(gaps), alone)


@dataclass(frozen=True, slots=True)
class EditScore:
    """One cell pair of the study's table."""

    stage: str
    """The stage it belongs to: data, method, experiment, ..."""
    purpose: Purpose
    runs: int
    turns: float
    """N_turns / N_runs."""
    lines: float | None
    """N_lines / N_turns; none without a turn."""


Edits: TypeAlias = tuple[tuple[str, Purpose, int], ...]
"""Stage, purpose and changed lines of every turn of a run."""


def edit_scores(runs: Sequence[Edits]) -> tuple[EditScore, ...]:
    """Turns and lines by stage and purpose, over the runs that executed; nothing where none did."""
    turns: Counter[tuple[str, Purpose]] = Counter()
    lines: Counter[tuple[str, Purpose]] = Counter()
    for stage, purpose, count in (edit for run in runs for edit in run):
        turns[stage, purpose] += 1
        lines[stage, purpose] += count
    purposes: tuple[Purpose, ...] = ("debugging", "refinement")
    keys = [(stage, purpose) for stage in dict.fromkeys(name for name, _ in turns) for purpose in purposes]
    return tuple(
        EditScore(*key, len(runs), turns[key] / len(runs), lines[key] / turns[key] if turns[key] else None)
        for key in keys
    )


def edits_of(journal: JournalReader, name: str) -> Edits | None:
    """All edits of the run of that id; none when it came to no verdict about the paper's numbers."""
    run = journal.find(name)
    if run.pipeline != PIPELINE:
        raise InputError(
            f"The run {run.id} is one of `reenact {run.pipeline}`; "
            f"only those of `reenact {PIPELINE}` edit code."
        )
    if run.exit_code not in (ExitCode.OK, ExitCode.FOUND):
        return None
    steps = [step for step in journal.steps(run) if step.kind is Kind.LLM and step.state is State.DONE]
    found = (_edit(step, journal.result(step)) for step in steps)
    return tuple(edit for edit in found if edit is not None)


def _edit(step: Step, result: Any) -> tuple[str, Purpose, int] | None:
    """The edit that a step made; none for a step that makes none."""
    *path, name = step.path.split("/")
    names = [part.partition("[")[0] for part in path]
    stage = next((part for part in reversed(names) if part != "debug"), "")
    if name not in PURPOSES or not stage or not isinstance(result, Mapping):
        return None
    try:
        lines = lines_in(Edited.model_validate(result.get("value")))
    except ValidationError:
        return None
    return (stage, PURPOSES[name], lines) if lines else None


def lines_in(change: Edited) -> int:
    """Lines that were replaced or written, whichever are more."""
    ranges = sum(max(one.last - one.first + 1, len(one.text.splitlines())) for one in change.lines)
    swaps = sum(max(len(one.search.splitlines()), len(one.replace.splitlines())) for one in change.swaps)
    return ranges + swaps + sum(len(one.text.splitlines()) for one in change.files)
