"""Scores that no model judges: execution rate and gap, edits, and how well a lineage was chosen.

Runs are what earlier ones left, and new ones, a seed each, in the sandbox. The gap of one run is
|reference - measured| / max(reference, measured) (AutoReproduce, equation 1); a run that did not execute has
the gap 1. Edits are those of recorded runs of `reenact paper`, until the code ran and held: turns a run,
lines a turn (AutoReproduce, 5.6). A lineage is compared with a list that an expert made, the most relevant
first: Top-1 Recall@k and Hits@N (AutoReproduce, 5.5).
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, TypeAlias

from pydantic import ValidationError

from reenact.codegen.edits import Edited
from reenact.errors import InputError, ResultRefused
from reenact.files import read_bytes
from reenact.intake.papers.paper import Paper, plain
from reenact.journal import JournalReader, Kind, State, Step
from reenact.paper.measure.gap import gap_of
from reenact.paper.measure.runs import FullRun
from reenact.sandbox.files.results import MOST_BYTES, read_json
from reenact.types import ExitCode

Purpose: TypeAlias = Literal["debugging", "refinement"]
PIPELINE = "paper"
"""Whose runs edit code."""
DEBUG = "debug"
"""The place below which every edit is debugging, whatever its step was called by the version
that ran.
"""
PURPOSES: Mapping[str, Purpose] = {
    "cheaper": "debugging",
    "revise": "refinement",
    "refactor": "refinement",
}
"""Steps of a journal that edit elsewhere."""
Edits: TypeAlias = tuple[tuple[str, Purpose, int], ...]
"""Stage, purpose and changed lines of every turn of a run."""
MOST_LISTED = 1 << 20
LISTS = ("exemplars", "lineage", "papers", "data")
"""Names of a list of papers in JSON, the likeliest first."""
_ARXIV = re.compile(r"(?:arxiv[.:/\s]*(?:org/\w+/)?)?(\d{4}\.\d{4,5})(?:v\d+)?", re.IGNORECASE)
Cited: TypeAlias = frozenset[str]
"""A cited paper by whatever names it has, in plain letters: two that share one are the same."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What one run measured, or why nothing."""

    value: float | None
    why: str = ""


def ended_run(run: FullRun, metric: str) -> Ended:
    """A run of now."""
    if run.ok and metric in run.metrics:
        return Ended(run.metrics[metric])
    return Ended(
        None,
        f"Seed {run.seed}: {run.why or f'It left no {metric!r} among its metrics.'}",
    )


def left_by(file: Path, metric: str) -> Ended:
    """What a run left in its metrics file; a file that is not there is a run that failed."""
    try:
        metrics = read_json(read_bytes(file, MOST_BYTES))
    except (OSError, ResultRefused) as error:
        return Ended(None, f"{file} counts as a failed run: {error}")
    value = None
    if isinstance(metrics, dict):
        value = metrics.get(metric)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Ended(
            None,
            f"{file} counts as a failed run: it holds no number called {metric!r}.",
        )
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
    alone = fmean(executed) if executed else None
    return ExecutedScore(
        1,
        runs=len(runs),
        rate=len(executed) / len(runs),
        gap=fmean(gaps),
        gap_executed=alone,
    )


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


def edit_scores(runs: Sequence[Edits]) -> tuple[EditScore, ...]:
    """Turns and lines by stage and purpose, over the runs that executed; nothing where none did."""
    lines: dict[tuple[str, Purpose], list[int]] = {}
    for stage, purpose, count in (edit for run in runs for edit in run):
        lines.setdefault((stage, purpose), []).append(count)
    stages = dict.fromkeys(name for name, _ in lines)
    keys = [(stage, purpose) for stage in stages for purpose in dict.fromkeys(PURPOSES.values())]
    turns = [(key, lines.get(key, [])) for key in keys]
    count = len(runs)
    return tuple(
        EditScore(
            *key,
            count,
            len(one) / count,
            fmean(one) if one else None,
        )
        for key, one in turns
    )


def edits_of(journal: JournalReader, name: str) -> Edits | None:
    """All edits of the run of that id; none when it came to no verdict about the paper's
    numbers.
    """
    run = journal.find(name)
    if run.pipeline != PIPELINE:
        own = f"only those of `reenact {PIPELINE}` edit code."
        raise InputError(f"The run {run.id} is one of `reenact {run.pipeline}`; {own}")
    if run.exit_code not in (ExitCode.OK, ExitCode.FOUND):
        return None
    steps = [
        step for step in journal.steps(run) if step.kind is Kind.LLM and step.state is State.DONE
    ]
    found = (_edit(step, journal.result(step)) for step in steps)
    return tuple(edit for edit in found if edit is not None)


def _edit(step: Step, result: Any) -> tuple[str, Purpose, int] | None:
    """The edit that a step made; none for a step that makes none."""
    *path, name = step.path.split("/")
    names = [part.partition("[")[0] for part in path]
    stage = next(
        (part for part in reversed(names) if part != DEBUG),
        "",
    )
    purpose = "debugging" if names[-1:] == [DEBUG] else PURPOSES.get(name)
    if purpose is None or not stage or not isinstance(result, Mapping):
        return None
    try:
        change = Edited.model_validate(result.get("value"))
    except ValidationError:
        return None
    # Lines that were replaced or written, whichever are more.
    ranges = [max(one.last - one.first + 1, len(one.text.splitlines())) for one in change.lines]
    swaps = [
        max(len(one.search.splitlines()), len(one.replace.splitlines())) for one in change.swaps
    ]
    lines = sum(
        (
            *ranges,
            *swaps,
            *(len(one.text.splitlines()) for one in change.files),
        )
    )
    return (stage, purpose, lines) if lines else None


def cited_as(*names: str) -> Cited:
    """The paper of these names: key, title, arXiv id."""
    ids = (found[1] for name in names if (found := _ARXIV.search(name)))
    return frozenset(mark for mark in (*map(plain, names), *ids) if mark)


@dataclass(frozen=True, slots=True)
class LineageScore:
    """One paper's lineage against the expert's."""

    k: int
    """How many were chosen."""
    n: int
    """How many the expert lists."""
    top1: bool
    """Whether the expert's first is among the chosen."""
    hits: int
    """How many of the chosen the expert lists too."""


def lineage_score(chosen: Sequence[Cited], expert: Sequence[Cited]) -> LineageScore:
    """Top-1 Recall@k and Hits@N."""
    if not expert:
        raise InputError("The expert's list is empty, so nothing can be compared with it.")
    hits = sum(any(one & listed for listed in expert) for one in chosen)
    return LineageScore(
        len(chosen),
        len(expert),
        any(expert[0] & one for one in chosen),
        hits,
    )


def cited_of(
    paper: Paper,
    keys: Sequence[str],
) -> tuple[Cited, ...]:
    """The references of these keys, with all their names."""
    known = {
        one.key: cited_as(
            one.key,
            one.title,
            one.arxiv or "",
        )
        for one in paper.references
    }
    return tuple(known[key] for key in keys if key in known)


def read_cited(file: Path) -> tuple[Cited, ...]:
    """A list of papers: text with a title, key or arXiv id a line, or JSON (a list, or a result
    of ours).
    """
    try:
        data = read_bytes(file, MOST_LISTED)
        if file.suffix == ".json":
            return tuple(_from_json(read_json(data, most_bytes=MOST_LISTED), file))
        text = data.decode("utf-8")
    except (OSError, UnicodeDecodeError, ResultRefused) as error:
        raise InputError(f"The list of papers cannot be read: {error}. Received: {file}") from error
    lines = [line.strip().removeprefix("- ").strip() for line in text.splitlines()]
    found = tuple(cited_as(line) for line in lines if line and not line.startswith("#"))
    if not found:
        raise InputError(f"The list of papers is empty. Received: {file}")
    return found


def _from_json(value: object, file: Path) -> Iterator[Cited]:
    entries = value
    while isinstance(entries, dict):
        entries = next(
            (entries[name] for name in LISTS if name in entries),
            None,
        )
    if not isinstance(entries, list) or not entries:
        how = 'Write ["title", ...] or {"papers": [...]}, or name the JSON of `reenact paper`.'
        raise InputError(f"The JSON holds no list of papers. Received: {file}", next_step=how)
    for entry in entries:
        found = cited_as(*_names_in(entry))
        if not found:
            raise InputError(
                f"A paper of the list has no name. Received: {json.dumps(entry)[:200]}"
            )
        yield found


def _names_in(entry: object) -> list[str]:
    """What an entry of a list of papers is called: a title alone, or its key, title and arXiv id."""
    if isinstance(entry, str):
        return [entry] if entry else []
    if not isinstance(entry, dict):
        return []
    names = (
        entry.get("key"),
        entry.get("title"),
        entry.get("arxiv"),
    )
    return [str(name) for name in names if name]
