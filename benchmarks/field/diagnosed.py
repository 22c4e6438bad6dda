"""`python -m benchmarks field`: diagnose foreign programs as a user would, one result a program.

A program and the diagnosis of it run in one box of the sandbox, without network: nobody here wrote it.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pydantic import ValidationError

import reenact
from benchmarks.field import inside
from benchmarks.field.case import FieldCase
from benchmarks.field.programs import materialise, why_not
from benchmarks.field.result import FieldResult, Results, read_result
from benchmarks.identity import code_identity
from benchmarks.several import several
from reenact.api.session import sandbox_for
from reenact.diagnosis.options import Depth
from reenact.errors import ResultRefused, Stopped
from reenact.sandbox.box import MIB, BoxResult, Command, Ending, Limits, Mount
from reenact.sandbox.files.strict_json import read_json
from reenact.settings import resolve
from reenact.types import Progress, Stop, Tell, tell_nobody

MINUTES = {Depth.QUICK: 3.0, Depth.NORMAL: 20.0}
"""What one program is expected to take, and may take twice."""
SOURCE = Path(reenact.__file__).parents[1]
"""What the box must see of us."""
_INSIDE = "field_inside.py"


@dataclass(frozen=True)
class CaseRun:
    """A program to be diagnosed."""

    case: FieldCase
    checkouts: Path
    depth: Depth
    workers: int
    """Trainings at once."""
    seconds: float
    repair: bool = False


def measure_all(
    cases: Sequence[FieldCase],
    checkouts: Path,
    results: Results,
    *,
    depth: Depth,
    jobs: int = 1,
    minutes: float | None = None,
    repair: bool = False,
    tell: Tell = tell_nobody,
    stop: Stop | None = None,
) -> list[FieldResult]:
    """Every program that has no result yet; those that are known count as they are."""
    code, stop = code_identity("."), stop or Stop()
    seconds = 60 * (minutes or 2 * MINUTES[depth])
    workers = max(1, (os.cpu_count() or 1) // jobs)
    found: dict[str, FieldResult] = {}
    wanted: dict[str, CaseRun] = {}
    for case in cases:
        known = results.get(case.id, depth.value, code, start_of(case))
        if known is not None and repair and not (known.repair or known.could_not_run or case.sound):
            known = None
        missing = why_not(case, checkouts)
        if known is not None:
            found[case.id] = known
        elif missing:
            found[case.id] = _blank(case, depth, could_not_run=missing)
        else:
            wanted[case.id] = CaseRun(case, checkouts, depth, workers, seconds, repair and not case.sound)
    expected = len(wanted) * min(MINUTES[depth], seconds / 60) / jobs
    tell(Progress("bench field", 0, len(wanted), f"about {expected:.0f} minutes"))
    for made in several(wanted, run_case, what="bench field", jobs=jobs, tell=tell, stop=stop):
        for name, result in made.items():
            results.put(result)
            found[name] = result
    return [found[case.id] for case in cases]


def start_of(case: FieldCase) -> str:
    """A hash over the program and how it is started; what is true of it is no part."""
    facts = asdict(case)
    for truth in ("faults", "rules", "sound", "why"):
        del facts[truth]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


def run_case(wanted: CaseRun, stop: Stop) -> FieldResult:
    """One program, diagnosed in a box."""
    case = wanted.case
    with tempfile.TemporaryDirectory(prefix="reenact-field-") as scratch:
        entry = materialise(case, wanted.checkouts, Path(scratch) / "program")
        boxed = sandbox_for(resolve().settings).run(
            _command(wanted, entry),
            Limits(
                wall_s=wanted.seconds * (1 + wanted.repair) + 120,
                memory_bytes=8192 * MIB,
                disk_bytes=4096 * MIB,
                files=100_000,
                processes=2048,
            ),
            stop=stop,
        )
    if boxed.ending is Ending.CANCELLED:
        raise Stopped("Stopped while a program was diagnosed; the same command continues.")
    return _read(boxed, _blank(case, wanted.depth, seconds=boxed.wall_s))


def _command(wanted: CaseRun, entry: Path) -> Command:
    case = wanted.case
    task = {
        "program": entry.name,
        "arguments": case.arguments,
        "depth": wanted.depth.value,
        "seconds": wanted.seconds,
        "workers": wanted.workers,
        "runs": ".reenact",
        "repair": wanted.repair,
    }
    environment = {"PYTHONPATH": str(SOURCE), "KERAS_BACKEND": "torch", "MPLBACKEND": "Agg"}
    return Command(
        argv=(sys.executable, _INSIDE),
        files={_INSIDE: Path(inside.__file__).read_bytes()},
        workspace=entry.parent,
        mounts=(Mount(SOURCE, str(SOURCE)),),
        environment={**environment, **_threads(wanted.workers), **case.environment},
        stdin=json.dumps(task).encode(),
        collect=(inside.ANSWER,),
    )


def _threads(workers: int) -> Mapping[str, str]:
    """As many as the program has cores: others run beside it."""
    return {"OMP_NUM_THREADS": str(workers)}


def _blank(case: FieldCase, depth: Depth, **more: object) -> FieldResult:
    begun = FieldResult(case.id, depth.value, code_identity("."), start_of(case))
    return replace(begun, **more)  # type: ignore[arg-type]


def _read(boxed: BoxResult, begun: FieldResult) -> FieldResult:
    """What was written down in the box; it comes from there, so it is only believed to be well-formed."""
    if inside.ANSWER not in boxed.results:
        why = boxed.why or f"exit code {boxed.exit_code}"
        return replace(begun, could_not_run=f"{boxed.ending}: {why}", output=boxed.output[-2000:])
    try:
        said = read_json(boxed.results[inside.ANSWER])
        known = {**asdict(begun), **(said if isinstance(said, dict) else {})}
        return read_result(known)
    except (ResultRefused, ValidationError) as error:
        return replace(begun, could_not_run=f"answer: {error}"[:500])
