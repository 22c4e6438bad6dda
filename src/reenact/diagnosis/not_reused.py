"""Why no training of an earlier run was reused: what the program depends on changed, or cannot be
seen.

Both runs have it in the journal: the inputs of their watched run are its surroundings, its result
is what the program looked at.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from reenact.diagnosis.watched_run import WatchedRun
from reenact.errors import JournalError
from reenact.journal import Journal, OpenRun
from reenact.journal.records import Run, Status, Step
from reenact.probe.opened import Opened
from reenact.probe.surroundings import differing

PIPELINES = ("diagnose", "repair", "mutate")
LOOKED_BACK = 20
"""Finished runs among which the last one of the same program is searched."""
NAMED = 3
"""Changes that are named; more of them are counted."""


def reused_line(run: OpenRun, journal: Journal, *, trainings: int, fresh: bool) -> str:
    """What of a result was not made now; where trainings were made and none was taken over, why."""
    if run.reused or fresh or not trainings:
        return run.reused
    return why_not_reused(journal, run.record)


def why_not_reused(journal: Journal, run: Run) -> str:
    """A sentence; empty where there is no earlier run of the same program, or nothing of it
    differs.
    """
    step = _watch_step(journal, run)
    opened = _opened(journal, step) if step is not None else None
    if step is None or opened is None:
        return ""
    if opened.blind:
        return f"Trainings of this program are not reused: {'; '.join(opened.blind)}."
    now = journal.inputs(step)
    for earlier in journal.runs(status=Status.FINISHED, limit=LOOKED_BACK):
        before = _watch_step(journal, earlier) if earlier.id != run.id else None
        if before is None or not _is_same_program(journal.inputs(before), now):
            continue
        seen = _opened(journal, before)
        if seen is None or seen.blind:
            continue
        changes = differing(
            journal.inputs(before).get("around", {}),
            now["around"],
        )
        folder = str(now["around"]["working"])
        changes += [_named(path, folder) for path in seen.differing(opened)]
        if not changes:
            return ""
        return f"Nothing is reused from run {earlier.id}: {_listed(changes)} changed since then."
    return ""


def _watch_step(journal: Journal, run: Run) -> Step | None:
    if run.pipeline not in PIPELINES:
        return None
    for path in (
        f"{run.pipeline}/watch",
        f"{run.pipeline}/diagnosis/watch",
    ):
        steps = [step for step in journal.steps_at(run, path) if step.has_result]
        if steps:
            return steps[-1]
    return None


def _opened(journal: Journal, step: Step) -> Opened | None:
    try:
        return journal.typed_result(step, WatchedRun).opened
    except JournalError:
        # Recorded by a version whose watched run had another form.
        return None


def _is_same_program(
    earlier: Mapping[str, Any],
    now: Mapping[str, Any],
) -> bool:
    return earlier.get("program") == now.get("program")


def _named(path: str, folder: str) -> str:
    inside = os.path.relpath(path, folder)
    return path if inside.startswith("..") else inside


def _listed(changes: list[str]) -> str:
    if len(changes) <= NAMED:
        if len(changes) > 1:
            return " and ".join(
                [
                    ", ".join(changes[:-1]),
                    changes[-1],
                ]
            )
        return changes[0]
    return f"{', '.join(changes[:NAMED])} and {len(changes) - NAMED} more"
