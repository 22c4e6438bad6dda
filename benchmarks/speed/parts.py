"""`python -m benchmarks trials --parts`: what short looks and early ends save in a repair, and
whether it decides the same.

The faults that make their own data, at lite scale, each repaired with the same number of trainings
three times: every training whole and over all seeds; as installed; with --prune. What two ways
train alike is done once and counts for both.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import geometric_mean
from unittest.mock import patch

from benchmarks.faults.case import FaultCase, Scale, Side
from benchmarks.faults.cases import catalogue
from benchmarks.faults.programs import ENTRY, availability, materialise
from benchmarks.outcome_cache import Cached, FolderStore
from benchmarks.scorecard import Figure, Goal, Scorecard, Table
from benchmarks.share import Share
from reenact.diagnosis.diagnosis import Diagnosis
from reenact.diagnosis.options import Depth, DiagnoseOptions
from reenact.diagnosis.pipeline import diagnose
from reenact.diagnosis.services import DiagnoseServices
from reenact.errors import ReenactError, Stopped, StorageError
from reenact.journal import Journal
from reenact.program.program import Program, read_program
from reenact.repairs import minimise
from reenact.repairs.options import RepairOptions
from reenact.repairs.pipeline import repair
from reenact.repairs.prepare import RepairServices
from reenact.repairs.strategies import guided as search
from reenact.repairs.verdict import summary
from reenact.trials import verify
from reenact.trials.executor import Executor, OnOutcome
from reenact.trials.pool import ProcessPool
from reenact.trials.trial import Outcome, Trial
from reenact.types import Progress, Stop, Tell

WHOLE, INSTALLED, PRUNED = "whole", "as installed", "--prune"
WAYS = (WHOLE, INSTALLED, PRUNED)
BUDGET = "20t"
"""The same number of trainings, however long each takes."""
HALF = 0.5


@dataclass(frozen=True, slots=True)
class Repaired:
    """What one way came to."""

    decision: str
    reached: str
    cpu_seconds: float
    """Of all trainings: search, minimising, verification."""


class Counted(Executor):
    """Another executor, which stays open; counts what the trainings took, those from the cache too."""

    def __init__(self, executor: Executor, *, whole: bool) -> None:
        self.executor = executor
        self.whole = whole
        self.cpu_seconds = 0.0

    def run(
        self,
        trials: Sequence[Trial],
        *,
        on: OnOutcome | None = None,
        stop: Stop | None = None,
    ) -> list[Outcome]:
        """See `Executor.run`; trained to their end where they are to be whole."""
        given = [replace(one, while_finite=one.while_finite and not self.whole) for one in trials]
        asked = {one.content: trial for one, trial in zip(given, trials, strict=True)}

        def tell(trial: Trial, outcome: Outcome) -> None:
            if on is not None:
                on(asked[trial.content], outcome)

        found = self.executor.run(given, on=tell, stop=stop)
        self.cpu_seconds += sum(outcome.cpu_seconds for outcome in found)
        return found

    def close(self) -> None:
        """It stays open."""


def measure_parts(
    *, tell: Tell, stop: Stop, outcomes: Path, workers: int | None = None
) -> Scorecard:
    """Every fault by every way; stopped, it shows what it has. Outcomes stay in the folder: it
    continues.
    """
    cases = [case for case in catalogue() if not case.data and availability(case).runnable]
    found: dict[str, Mapping[str, Repaired]] = {}
    failed: dict[str, str] = {}
    with ProcessPool(workers) as pool:
        for number, case in enumerate(cases):
            tell(Progress("parts", number, len(cases), case.id))
            try:
                found[case.id] = repaired_by_all(
                    case, Cached(pool, FolderStore(outcomes / case.id)), stop
                )
            except Stopped:
                failed |= {one.id: "stopped before" for one in cases[number:]}
                break
            except StorageError:
                raise
            except ReenactError as error:
                failed[case.id] = error.sentence
    return scorecard(found, failed)


def repaired_by_all(case: FaultCase, trainer: Executor, stop: Stop) -> dict[str, Repaired]:
    """One fault by every way, from the same diagnosis."""
    with (
        tempfile.TemporaryDirectory(prefix="reenact-parts-") as made,
        Path(os.devnull).open("wb") as nowhere,
    ):
        scratch = Path(made)
        program = read_program(
            (ENTRY,),
            materialise(case, Side.BUGGY, Scale.LITE, scratch / "buggy").parent,
        )
        with Journal.in_memory() as journal:
            services = DiagnoseServices(
                journal=journal, traces=scratch / "traces", stop=stop, stdout=nowhere
            )
            known = diagnose(program, DiagnoseOptions(depth=Depth.QUICK), services)
        return {
            way: _repaired(way, program, known, trainer, scratch / "traces", stop) for way in WAYS
        }


def _repaired(
    way: str,
    program: Program,
    known: Diagnosis,
    trainer: Executor,
    traces: Path,
    stop: Stop,
) -> Repaired:
    counted = Counted(trainer, whole=way == WHOLE)
    with Journal.in_memory() as journal, all_whole() if way == WHOLE else nullcontext():
        given = RepairServices(
            journal=journal,
            traces=traces,
            stop=stop,
            studies=False,
            executor=lambda: counted,
        )
        found = repair(program, RepairOptions(budget=BUDGET, prune=way == PRUNED), given, known)
    reached = summary(found.verdict.after) if found.verdict is not None else "-"
    return Repaired(found.decision.value, reached, counted.cpu_seconds)


@contextmanager
def all_whole() -> Iterator[None]:
    """No short training in the search, no first look in minimising and in verification."""
    with (
        patch.object(search, "LONG_ENOUGH", math.inf),
        patch.object(search, "LONG", math.inf),
        patch.object(minimise, "HOPELESS", -math.inf),
        patch.object(verify, "FIRST_LOOK", 1_000_000),
    ):
        yield


def scorecard(found: Mapping[str, Mapping[str, Repaired]], failed: Mapping[str, str]) -> Scorecard:
    """Training time beside that of whole trainings, and how often the decision is the same."""
    shares = {way: _share(found, way) for way in WAYS[1:]}
    same = {
        way: Share(
            sum(_helps(row[way]) == _helps(row[WHOLE]) for row in found.values()),
            len(found),
        )
        for way in WAYS[1:]
    }
    rows = [
        (
            name,
            *(f"{row[way].cpu_seconds:.1f}" for way in WAYS),
            *(row[way].decision for way in WAYS),
            *(row[way].reached for way in WAYS),
        )
        for name, row in found.items()
    ]
    heads = (
        "fault",
        *(f"{way}, s" for way in WAYS),
        *(f"{way}: decision" for way in WAYS),
        *(f"{way}: reached" for way in WAYS),
    )
    left_out = Table("Not repaired here", ("fault", "why"), tuple(failed.items()))
    return Scorecard(
        name="trials-parts",
        figures=f"as installed {_shown(shares[INSTALLED])}, with --prune {_shown(shares[PRUNED])} "
        f"of the time of whole trainings; same decision {same[INSTALLED].part} and "
        f"{same[PRUNED].part} of {len(found)}",
        goals=tuple(
            goal
            for way in WAYS[1:]
            for goal in (
                Goal(
                    f"{way}: share of the time of whole trainings",
                    f"<= {HALF:g}",
                    _shown(shares[way]),
                    _met(shares[way]),
                ),
                Goal(
                    f"{way}: same decision as with whole trainings",
                    "all",
                    f"{same[way].part} of {same[way].whole}",
                    same[way].part == same[way].whole,
                ),
            )
        ),
        tables=(
            Table(
                "CPU seconds of the trainings of a repair, and what they decide",
                heads,
                tuple(rows),
            ),
            *([left_out] if failed else []),
        ),
        measured={
            way: Figure(
                f"{way}: share of the time of whole trainings, geometric mean",
                shares[way],
                digits=2,
            )
            for way in WAYS[1:]
        },
    )


def _share(found: Mapping[str, Mapping[str, Repaired]], way: str) -> float | None:
    each = [
        row[way].cpu_seconds / row[WHOLE].cpu_seconds
        for row in found.values()
        if row[WHOLE].cpu_seconds
    ]
    return geometric_mean(each) if each else None


def _met(share: float | None) -> bool | None:
    return None if share is None else share <= HALF


def _helps(one: Repaired) -> bool:
    return one.decision in ("repaired", "improved")


def _shown(share: float | None) -> str:
    return "-" if share is None else f"{share:.2f}"
