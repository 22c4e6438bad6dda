"""The edits of a recorded run of `reenact paper`, read from its journal."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from reenact.codegen.edits import Edited
from reenact.errors import InputError
from reenact.journal import Kind, Run, Shelf, State, Step
from reenact.paper.evaluate.edits import Edit, EditedRun, Purpose
from reenact.types import ExitCode

STORY = "paper"
_PURPOSES: Mapping[str, Purpose] = {"mend": "debugging", "revise": "refinement", "refactor": "refinement"}
_STAGE = re.compile(r"(?:^|/)(\w+)(?:\[\d+\])?(?:/debug\[\d+\])?/(?:mend|revise|refactor)$")
_EXECUTED = (ExitCode.OK, ExitCode.FOUND)


def edited_run(journal: Shelf, name: str) -> EditedRun:
    """All edits of the run of that id. It executes when it came to a verdict about the paper's numbers."""
    run = journal.find(name)
    if run.story != STORY:
        raise InputError(
            f"The run {run.id} is a run of `reenact {run.story}`; only those of `reenact {STORY}` edit code."
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
