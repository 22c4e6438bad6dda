"""`python -m benchmarks field`: diagnose foreign programs as a user would, one result a program."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.field.boxed import read_answer, run_in_box, workers_for
from benchmarks.field.case import FieldCase
from benchmarks.field.programs import why_not
from benchmarks.field.result import FieldResult, Results
from benchmarks.identity import code_identity
from benchmarks.several import several
from reenact.diagnosis.options import Depth
from reenact.types import Progress, Stop, Tell, tell_nobody

MINUTES = {Depth.QUICK: 3.0, Depth.NORMAL: 20.0}
"""What one program is expected to take, and may take twice."""


@dataclass(frozen=True)
class CaseRun:
    """A program to be diagnosed."""

    case: FieldCase
    checkouts: Path
    depth: Depth
    workers: int
    """Trainings at once."""
    seconds: float


def measure_all(
    cases: Sequence[FieldCase],
    checkouts: Path,
    results: Results[FieldResult],
    *,
    depth: Depth,
    jobs: int = 1,
    minutes: float | None = None,
    tell: Tell = tell_nobody,
    stop: Stop | None = None,
) -> list[FieldResult]:
    """Every program that has no result yet; those that are known count as they are."""
    code, stop = code_identity("."), stop or Stop()
    seconds = 60 * (minutes or 2 * MINUTES[depth])
    found: dict[str, FieldResult] = {}
    wanted: dict[str, CaseRun] = {}
    for case in cases:
        known = results.get(case.id, depth.value, code, start_of(case))
        missing = why_not(case, checkouts)
        if known is not None:
            found[case.id] = known
        elif missing:
            found[case.id] = _blank(case, depth, could_not_run=missing)
        else:
            wanted[case.id] = CaseRun(case, checkouts, depth, workers_for(jobs), seconds)
    expected = len(wanted) * min(MINUTES[depth], seconds / 60) / jobs
    tell(Progress("bench field", 0, len(wanted), f"about {expected:.0f} minutes"))
    for made in several(wanted, run_case, what="bench field", jobs=jobs, tell=tell, stop=stop):
        for name, result in made.items():
            results.put(result)
            found[name] = result
    return [found[case.id] for case in cases]


def start_of(case: FieldCase) -> str:
    """A hash over the program and how it is started; what is true of it, or its fix, is no part."""
    facts = asdict(case)
    for other in ("faults", "rules", "sound", "why", "fixed"):
        del facts[other]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


def run_case(wanted: CaseRun, stop: Stop) -> FieldResult:
    """One program, diagnosed in a box."""
    task = {"task": "diagnose", "depth": wanted.depth.value, "seconds": wanted.seconds}
    boxed = run_in_box(
        wanted.case, wanted.checkouts, task, seconds=wanted.seconds, workers=wanted.workers, stop=stop
    )
    return read_answer(boxed, _blank(wanted.case, wanted.depth, seconds=boxed.wall_s))


def _blank(case: FieldCase, depth: Depth, **more: object) -> FieldResult:
    begun = FieldResult(case.id, depth.value, code_identity("."), start_of(case))
    return replace(begun, **more)  # type: ignore[arg-type]
