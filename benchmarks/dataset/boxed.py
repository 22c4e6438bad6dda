"""A foreign program and reenact in one box of the sandbox, without network: nobody here wrote
it.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import reenact
from benchmarks.dataset import inside
from benchmarks.dataset.checkout import materialise, materialise_fix
from benchmarks.dataset.foreign import Foreign
from benchmarks.dataset.ran import Ran
from benchmarks.dataset.training import Training
from reenact.api.session import sandbox_for
from reenact.errors import Stopped
from reenact.sandbox.box import MIB, Command, Ending, Limits, Mount
from reenact.settings import resolve
from reenact.types import JsonValue, Stop

SOURCE = Path(reenact.__file__).parents[1]
"""What the box must see of us."""
START_AND_END = 120.0
"""Seconds that a box takes besides its task."""
_INSIDE, _ANSWER, _RECORDING = "field_inside.py", "field_answer.json", "recording.jsonl"
_FOLDER = "repository/part/program"
"""Of the program in its box: some write to the folders above theirs."""
_FIX = "fixed"
"""The folder beside it for the author's fix of another commit, which only a repair is judged by."""


def run_in_box(
    training: Training,
    foreign: Foreign,
    checkouts: Path,
    task: Mapping[str, JsonValue],
    *,
    recording: Path | None,
    seconds: float,
    workers: int,
    stop: Stop,
) -> Ran:
    """What came of a task next to the program; raises Stopped."""
    with tempfile.TemporaryDirectory(prefix="reenact-field-") as scratch:
        entry = materialise(training, foreign, checkouts, Path(scratch) / _FOLDER)
        fixed = Path(foreign.fixed.path).name if foreign.fixed is not None else ""
        if foreign.fixed is not None and foreign.fixed.commit and task["task"] == "repair":
            beside = entry.parent.with_name(_FIX)
            materialise_fix(training, foreign, foreign.fixed, checkouts, beside)
            fixed = f"../{_FIX}/{fixed}"
        given = {
            **task,
            "folder": str(entry.parent.relative_to(scratch)),
            "words": [entry.name, *training.args],
            "fixed": fixed,
            "recording": _RECORDING if recording is not None else "",
            "answer": _ANSWER,
        }
        files = {_INSIDE: Path(inside.__file__).read_bytes()}
        if recording is not None:
            files[_RECORDING] = recording.read_bytes()
        boxed = sandbox_for(resolve().settings).run(
            Command(
                argv=(sys.executable, _INSIDE),
                files=files,
                workspace=Path(scratch),
                mounts=(Mount(SOURCE, str(SOURCE)),),
                environment=_environment(foreign, workers),
                stdin=json.dumps(given).encode(),
                collect=(_ANSWER,),
            ),
            _limits(seconds),
            stop=stop,
        )
    if boxed.ending is Ending.CANCELLED:
        raise Stopped("Stopped while a program was running; the same command continues.")
    why = f"{boxed.ending}: {boxed.why or f'exit code {boxed.exit_code}'}"
    return Ran(boxed.results.get(_ANSWER), why, boxed.output[-2000:], boxed.wall_s)


def _environment(foreign: Foreign, workers: int) -> dict[str, str]:
    """As many threads as the program has cores: others run at the same time."""
    return {
        "PYTHONPATH": str(SOURCE),
        "KERAS_BACKEND": "torch",
        "MPLBACKEND": "Agg",
        "OMP_NUM_THREADS": str(workers),
        **foreign.environment,
    }


def _limits(seconds: float) -> Limits:
    return Limits(
        wall_s=seconds + START_AND_END,
        memory_bytes=8192 * MIB,
        disk_bytes=4096 * MIB,
        files=100_000,
        processes=2048,
    )
