"""`keep`: the check of a tested claim as a test of your own project."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from reenact.api.session import File
from reenact.errors import InputError

if TYPE_CHECKING:
    from reenact.journal import JournalReader, Run
    from reenact.program.program import Program
    from reenact.report.recorded import Stored


def keep(
    run: str = "last",
    *,
    file: File,
    force: bool = False,
    runs_dir: File | None = None,
) -> str:
    """Write the check of a tested claim as a pytest file of your project.

    The test fails on the program with the fault and passes after the fix. Nothing is run.

    Example:
        reenact.test_hypothesis("train.py", claim="...", edit="fix.diff", check="check.py")
        reenact.keep(file="tests/test_first_step.py")

    Args:
        run: which test of a claim; "last": the newest run.
        file: where to write it; it finds the program from there.
        force: write over a file that is there.
        runs_dir: folder of the journal; default: that of the settings (.reenact).

    Returns:
        What was written and where, in a sentence.
    """
    from reenact.claims.verdict import ClaimStatus, ClaimVerdict
    from reenact.journal import JournalReader
    from reenact.journal.storage import storage_named
    from reenact.report.pytest_file import KeptClaim
    from reenact.report.recorded import Stored
    from reenact.settings import resolve

    target = Path(file)
    if target.suffix != ".py":
        raise InputError(f"A test is a Python file. Received: {target}.")
    if target.exists() and not force:
        raise InputError(
            f"This file is there already: {target}.",
            next_step="Name another one, or write over it with --force.",
        )
    settings = resolve({"runs_dir": None if runs_dir is None else Path(runs_dir)}).settings
    with JournalReader.open(settings.runs_dir) as shelf:
        record = shelf.find(run)
        _refuse_other_runs(shelf, record)
        stored = Stored(shelf, record, settings.runs_dir)
        tested = stored.result(ClaimVerdict)
        if tested.status not in (ClaimStatus.PROVEN, ClaimStatus.LIKELY, ClaimStatus.REMARK):
            says = f"Run {record.id} shows no fault, so nothing is kept. {tested.sentence}"
            raise InputError(says, next_step="Test another claim, or the same with another check.")
        program = _program_of(stored)
        kept = KeptClaim(
            verdict=tested,
            run=record.id,
            words=program.launch.words,
            folder=os.path.relpath(program.working, target.parent.resolve()),
            data=_data(stored, program),
        )
    with storage_named(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(kept.text, encoding="utf-8")
    return (
        f"Written: {target}. It fails while the fault is in {program.entry} and passes after the fix: "
        f"pytest {target}"
    )


def _refuse_other_runs(shelf: JournalReader, run: Run) -> None:
    """InputError for a run that did not test a claim to its end, or that somebody else recorded."""
    status = shelf.status_of(run)
    if run.pipeline != "test-hypothesis" or status != "finished":
        says = f"Only a claim that was tested is kept. Received: run {run.id}, {run.pipeline}, {status}."
        raise InputError(says, next_step="reenact runs list --command test-hypothesis")
    if not shelf.is_ours(run):
        says = f"Run {run.id} was recorded by somebody else, so its check is not kept."
        raise InputError(says, next_step="Test the claim on this machine.")


def _program_of(stored: Stored) -> Program:
    """The program of a run, its script named from the folder that it is started in."""
    from reenact.api.reference import program_of_run

    program = program_of_run(stored.run)
    assert program is not None
    launch = program.launch
    if not launch.module and Path(launch.target).is_absolute():
        launch = replace(launch, target=os.path.relpath(launch.target, program.working))
    return replace(program, launch=launch)


def _data(stored: Stored, program: Program) -> list[str]:
    """What the watched run read that a copy of the folder does not have."""
    from reenact.diagnosis.hypothesis import data_of
    from reenact.diagnosis.watched_run import WatchedRun

    paths = [one.source for one in data_of(stored.result(WatchedRun, "watch").opened, program)]
    own = program.working.resolve()
    return [str(one.relative_to(own) if one.is_relative_to(own) else one) for one in paths]
