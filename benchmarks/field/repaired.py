"""`python -m benchmarks field --repair`: repair foreign programs as a user would, beside authors' fixes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.field.boxed import read_answer, run_in_box, workers_for
from benchmarks.field.case import FieldCase
from benchmarks.field.programs import why_not
from benchmarks.field.result import FieldRepair, Results
from benchmarks.identity import code_identity
from benchmarks.several import several
from reenact.types import JsonValue, Progress, Stop, Tell, tell_nobody

MINUTES = 8.0
"""What the repair of one program is expected to take on two cores, and may take three times."""


@dataclass(frozen=True)
class RepairRun:
    """A program to be repaired."""

    case: FieldCase
    checkouts: Path
    budget: str
    seeds: int
    workers: int
    seconds: float


def repair_all(
    cases: Sequence[FieldCase],
    checkouts: Path,
    results: Results[FieldRepair],
    *,
    budget: str,
    seeds: int,
    jobs: int = 1,
    minutes: float | None = None,
    tell: Tell = tell_nobody,
    stop: Stop | None = None,
) -> list[FieldRepair]:
    """Every program that has no result yet; those that are known count as they are."""
    seconds = 60 * (minutes or 3 * MINUTES)
    found: dict[str, FieldRepair] = {}
    wanted: dict[str, RepairRun] = {}
    for case in cases:
        begun = _blank(case, budget, seeds)
        known = results.get(case.id, begun.how, begun.code, begun.started_as)
        missing = why_not(case, checkouts)
        if known is not None:
            found[case.id] = known
        elif missing:
            found[case.id] = _blank(case, budget, seeds, could_not_run=missing)
        else:
            wanted[case.id] = RepairRun(case, checkouts, budget, seeds, workers_for(jobs), seconds)
    expected = len(wanted) * min(MINUTES, seconds / 60) / jobs
    tell(Progress("bench field --repair", 0, len(wanted), f"about {expected:.0f} minutes"))
    for made in several(
        wanted, run_repair, what="bench field --repair", jobs=jobs, tell=tell, stop=stop or Stop()
    ):
        for name, result in made.items():
            results.put(result)
            found[name] = result
    return [found[case.id] for case in cases]


def run_repair(wanted: RepairRun, stop: Stop) -> FieldRepair:
    """One program, repaired in a box, then its author's fix over the same seeds."""
    task: dict[str, JsonValue] = {
        "task": "repair", "budget": wanted.budget, "seeds": wanted.seeds, "seconds": wanted.seconds,
    }  # fmt: skip
    boxed = run_in_box(
        wanted.case, wanted.checkouts, task, seconds=1.5 * wanted.seconds, workers=wanted.workers, stop=stop
    )
    begun = _blank(wanted.case, wanted.budget, wanted.seeds, seconds=boxed.wall_s)
    return read_answer(boxed, begun)


def _blank(
    case: FieldCase, budget: str, seeds: int, *, could_not_run: str = "", seconds: float = 0.0
) -> FieldRepair:
    facts = asdict(case)
    for truth in ("faults", "rules", "sound", "why"):
        del facts[truth]
    start = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]
    return FieldRepair(
        case.id, budget, seeds, code_identity("."), start, could_not_run=could_not_run, seconds=seconds
    )
