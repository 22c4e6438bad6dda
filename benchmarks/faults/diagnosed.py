"""`python -m benchmarks faults`: diagnose every program of the benchmark, score every family side by side.

The buggy programs give recall, precision and F3; the fixed twins false alarms. Each program is watched once,
all families judge the same evidence; the diagnosis is run at the asked depth, without a model.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.data.packages import run
from benchmarks.faults.answers import answer_by, answer_of, reported_by
from benchmarks.faults.case import FaultCase, Scale, Side
from benchmarks.faults.case_result import PIPELINE, QUICK, CaseResult
from benchmarks.faults.cases import published_means
from benchmarks.faults.programs import availability, materialise
from benchmarks.faults.scores import Answer
from benchmarks.faults.verdict import scorecard
from benchmarks.identity import code_identity
from benchmarks.scorecard import Scorecard
from benchmarks.several import several
from benchmarks.warm import Lent, end_with_parent, warm_pool
from reenact.diagnosis.diagnosis import Diagnosis
from reenact.diagnosis.options import THRESHOLD, Depth, DiagnoseOptions
from reenact.diagnosis.pipeline import diagnose
from reenact.diagnosis.services import DiagnoseServices
from reenact.faults.evidence import Evidence
from reenact.faults.families import FAMILIES
from reenact.faults.finding import Finding
from reenact.faults.registry import chosen
from reenact.journal import Journal
from reenact.program.program import Program, read_program
from reenact.types import Stop, Tell, tell_nobody


@dataclass(frozen=True)
class CaseRun:
    """A case to be run."""

    case: FaultCase
    side: Side
    scale: Scale
    depth: Depth
    budget: str
    workers: int
    """Processes that train for it at once."""


def measure(
    cases: Sequence[FaultCase],
    scale: Scale,
    *,
    journal: Journal,
    depth: Depth = Depth.NORMAL,
    budget: str = "",
    repeats: int = 1,
    sides: Sequence[Side] = tuple(Side),
    tell: Tell = tell_nobody,
    stop: Stop | None = None,
    fresh: bool = False,
    jobs: int = 1,
) -> Scorecard:
    """Run every program that can be run here; the others are named with the reason."""
    stop = stop or Stop()
    missing = {case.id: why for case in cases if (why := availability(case).why_not)}
    workers = max(1, (os.cpu_count() or 1) // jobs)
    wanted = {
        f"{case.id}-{side}-{repeat}": CaseRun(case, side, scale, depth, budget, workers)
        for case in cases
        if case.id not in missing
        for side in sides
        for repeat in range(repeats)
    }
    identity = {"scale": scale.value, "depth": depth.value, "code": code_identity()} | (
        {"budget": budget} if budget else {}
    )
    request = {"cases": [case.id for case in cases], **identity}
    with journal.run(
        pipeline="bench-faults",
        request={**request, "repeats": repeats},
        what=scale.value,
        fresh=fresh,
    ) as deep:
        found = deep.many(
            dict.fromkeys(wanted, identity),
            lambda names: several(
                {name: wanted[name] for name in names},
                run_case,
                what="bench faults",
                jobs=jobs,
                tell=tell,
                stop=stop,
            ),
            returns=CaseResult,
            shared=True,
        )
        deep.finish({"programs": len(found)})
    return scorecard(list(found.values()), cases, missing, scale, depth, published_means())


def run_case(wanted: CaseRun, stop: Stop) -> CaseResult:
    """One program: trained plainly, diagnosed quickly, then the whole pipeline."""
    case, side, depth = wanted.case, wanted.side, wanted.depth
    end_with_parent()
    with tempfile.TemporaryDirectory(prefix="reenact-fault-") as scratch:
        entry = materialise(case, side, wanted.scale, Path(scratch) / "program")
        program = read_program((str(entry),), entry.parent)
        seconds = {"plain": _train_plainly(entry)}
        quick, seconds["quick"] = _timed(
            program, DiagnoseOptions(depth=Depth.QUICK), Path(scratch) / "quick", stop
        )
        answers = {
            family: _listed(answer_by(chosen((family,)), quick.evidence)) for family in FAMILIES
        }
        answers[QUICK] = _listed(answer_of(quick))
        deep, more = quick, 0.0
        if depth.intervenes:
            options = DiagnoseOptions(
                depth=depth,
                threshold=THRESHOLD,
                budget=wanted.budget,
                workers=wanted.workers,
            )
            deep, more = _timed(program, options, Path(scratch) / "pipeline", stop, quick.evidence)
        seconds["pipeline"] = seconds["quick"] + more
        answers[PIPELINE] = _listed(answer_of(deep))
    return CaseResult(
        case.id,
        side,
        answers,
        seconds,
        [_words(one) for one in deep.findings],
        reported_by(deep),
    )


def _words(one: Finding) -> str:
    where = f" at {one.layer}" if one.layer else ""
    gain = (
        f"; {_middle(one.tried.before)} to {_middle(one.tried.after)}"
        if one.tried is not None
        else ""
    )
    return f"{one.first.code} {one.fault}{where} ({one.status}, {one.confidence:.2f}{gain})"


def _middle(values: Sequence[float]) -> str:
    return f"{abs(median(values)):.3g}"


def _timed(
    program: Program,
    options: DiagnoseOptions,
    folder: Path,
    stop: Stop,
    seen: Evidence | None = None,
) -> tuple[Diagnosis, float]:
    begun = time.monotonic()
    with Journal.in_memory() as journal, Path(os.devnull).open("wb") as nowhere:
        services = DiagnoseServices(
            journal=journal,
            traces=folder,
            stop=stop,
            stdout=nowhere,
            executor=lambda: Lent(warm_pool(options.workers)),
        )
        found = diagnose(program, options, services, seen)
    return found, time.monotonic() - begun


def _train_plainly(entry: Path) -> float:
    """Wall seconds of the program as its user runs it."""
    environ = {**os.environ, "KERAS_BACKEND": "torch"}
    begun = time.monotonic()
    run(
        [sys.executable, entry.name],
        entry.parent,
        f"{entry.name} did not end well",
        environ=environ,
    )
    return time.monotonic() - begun


def _listed(answer: Answer) -> list[tuple[str, int | None]]:
    return sorted(((fault.value, layer) for fault, layer in answer), key=str)
