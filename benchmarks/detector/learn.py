"""Make the detector from nothing: plan -> train -> label -> features -> classifiers -> scores ->
model.

The same call continues where an earlier one stopped: outcomes and traces are kept below the work
folder by the content of their trial, and no training is done twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.detector.dataset import Dataset, dataset
from benchmarks.detector.fit import SHIPPED, fitted, require_sklearn
from benchmarks.detector.gather import labelled, rows, train
from benchmarks.detector.judgement import Judgement, judged, statements_of
from benchmarks.detector.plan import base_programs, plan
from benchmarks.detector.publish import exported
from benchmarks.detector.scores import Report, Scores, judge, measure
from benchmarks.outcome_cache import Cached, FolderStore
from reenact.diagnosis.learned.findings import LEAST, Forest
from reenact.journal import Journal
from reenact.program.program import Program
from reenact.trials.executor import Executor
from reenact.trials.pool import ProcessPool
from reenact.types import ExitCode, JsonValue, Progress, Stop, Tell, tell_nobody


@dataclass(frozen=True)
class LearnOptions:
    """What to make."""

    work: Path
    """Folder for outcomes and traces."""
    quick: bool = False
    """A third of the mutants."""
    workers: int = 0
    """Trainings at once; 0: one a core."""
    programs: tuple[Program, ...] = ()
    """Base programs; empty: those that travel with the package."""


@dataclass(frozen=True)
class LearnServices:
    """What the pipeline needs from outside."""

    journal: Journal
    tell: Tell = tell_nobody
    stop: Stop = field(default_factory=Stop)
    argv: Sequence[str] = ()


@dataclass(frozen=True)
class Learned:
    """What came out."""

    forest: Forest
    data: Dataset
    report: Report
    at_work: Scores
    """Of the shipped model on programs not learned from, as `diagnose` uses it: calibrated, on the
    same trainings, and so a little flattered."""
    judgement: Judgement
    """What the confidences of the rules are worth on the same trainings."""
    trainings: int
    cpu_seconds: float

    def to_json(self) -> JsonValue:
        scores = self.report.one_program_out[SHIPPED]
        return {
            "trainings": self.trainings,
            "cpu_seconds": self.cpu_seconds,
            "rows": len(self.data.x),
            "classes": [one.code for one in self.data.classes],
            "f1": scores.f1,
            "false_alarms": scores.false_alarms,
            "suspects": len(self.judgement.statements),
            "brier": self.judgement.brier,
            "brier_by_curve": self.judgement.brier_by_curve,
        }


def learn(options: LearnOptions, services: LearnServices) -> Learned:
    """The whole pipeline."""
    require_sklearn()
    programs = options.programs or base_programs()
    planned = plan(programs, quick=options.quick)
    request: dict[str, JsonValue] = {
        "quick": options.quick,
        "trials": [trial.key for one in planned for trial in one.trials[:1]],
    }
    with services.journal.run(
        pipeline="train-detector",
        request=request,
        argv=services.argv,
        what="learned detector",
    ) as run:
        with _executor(options) as executor:
            outcomes = train(planned, executor, services.tell, services.stop)
        services.tell(Progress("features", 0, 1, f"{len(outcomes)} trainings"))
        known = tuple(labelled(planned, outcomes))
        data = dataset(tuple(rows(known, outcomes)))
        report = measure(data, services.tell)
        model = fitted(SHIPPED, data.x, data.y)
        forest = exported(model, data, report.held_out[SHIPPED])
        at_work = judge(data, forest.calibrated(report.held_out[SHIPPED]) >= LEAST)
        cpu = sum(outcome.cpu_seconds for outcome in outcomes.values())
        services.tell(Progress("rules", 0, 1, f"{len(known)} programs"))
        judgement = judged(tuple(statements_of(known, outcomes)))
        found = Learned(forest, data, report, at_work, judgement, len(outcomes), cpu)
        run.finish(found.to_json(), ExitCode.OK)
    return found


def _executor(options: LearnOptions) -> Executor:
    pool = ProcessPool(workers=options.workers or None, scratch=options.work / "traces")
    return Cached(pool, FolderStore(options.work / "outcomes"))
