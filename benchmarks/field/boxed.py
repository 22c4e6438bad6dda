"""A foreign program and reenact in one box of the sandbox, without network: nobody here wrote it."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

import reenact
from benchmarks.field import inside
from benchmarks.field.case import FieldCase
from benchmarks.field.programs import materialise
from benchmarks.field.result import FieldRepair, FieldResult
from reenact.api.session import sandbox_for
from reenact.errors import ResultRefused, Stopped
from reenact.sandbox.box import MIB, BoxResult, Command, Ending, Limits, Mount
from reenact.sandbox.files.results import read_json
from reenact.settings import resolve
from reenact.types import JsonValue, Stop

SOURCE = Path(reenact.__file__).parents[1]
"""What the box must see of us."""
START_AND_END = 120.0
"""Seconds that a box takes besides its task."""
_INSIDE = "field_inside.py"
_FOLDER = "repository/part/program"
"""Of the program in its box: some write to the folders above theirs."""

Answer = TypeVar("Answer", FieldResult, FieldRepair)


def workers_for(jobs: int) -> int:
    """Trainings at once where so many programs run beside each other."""
    return max(1, (os.cpu_count() or 1) // jobs)


def run_in_box(
    case: FieldCase,
    checkouts: Path,
    task: Mapping[str, JsonValue],
    *,
    seconds: float,
    workers: int,
    stop: Stop,
) -> BoxResult:
    """What came of a task beside the program; raises Stopped."""
    with tempfile.TemporaryDirectory(prefix="reenact-field-") as scratch:
        entry = materialise(case, checkouts, Path(scratch) / _FOLDER)
        boxed = sandbox_for(resolve().settings).run(
            _command(case, Path(scratch), entry, task, workers),
            Limits(
                wall_s=seconds + START_AND_END,
                memory_bytes=8192 * MIB,
                disk_bytes=4096 * MIB,
                files=100_000,
                processes=2048,
            ),
            stop=stop,
        )
    if boxed.ending is Ending.CANCELLED:
        raise Stopped("Stopped while a program was running; the same command continues.")
    return boxed


def _command(
    case: FieldCase, workspace: Path, entry: Path, task: Mapping[str, JsonValue], workers: int
) -> Command:
    given = {
        "folder": str(entry.parent.relative_to(workspace)),
        "program": entry.name,
        "arguments": list(case.arguments),
        "fixed": Path(case.fixed.path).name if case.fixed is not None else "",
        "workers": workers,
        "runs": ".reenact",
        **task,
    }
    # As many threads as the program has cores: others run beside it.
    environment = {
        "PYTHONPATH": str(SOURCE),
        "KERAS_BACKEND": "torch",
        "MPLBACKEND": "Agg",
        "OMP_NUM_THREADS": str(workers),
    }
    return Command(
        argv=(sys.executable, _INSIDE),
        files={_INSIDE: Path(inside.__file__).read_bytes()},
        workspace=workspace,
        mounts=(Mount(SOURCE, str(SOURCE)),),
        environment={**environment, **case.environment},
        stdin=json.dumps(given).encode(),
        collect=(inside.ANSWER,),
    )


def read_answer(boxed: BoxResult, begun: Answer) -> Answer:
    """What was written down in the box; it comes from there, so it is only believed to be well-formed."""
    facts = asdict(begun)
    if inside.ANSWER not in boxed.results:
        why = boxed.why or f"exit code {boxed.exit_code}"
        facts |= {"could_not_run": f"{boxed.ending}: {why}", "output": boxed.output[-2000:]}
        return TypeAdapter(type(begun)).validate_python(facts)
    try:
        said = read_json(boxed.results[inside.ANSWER])
        known = {**facts, **(said if isinstance(said, dict) else {})}
        return TypeAdapter(type(begun)).validate_python(known)
    except (ResultRefused, ValidationError) as error:
        return TypeAdapter(type(begun)).validate_python({**facts, "could_not_run": f"answer: {error}"[:500]})
