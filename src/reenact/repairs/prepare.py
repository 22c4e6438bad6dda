"""From a diagnosis to a workbench: what one training costs, what judges, what the strategy may use."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from reenact.diagnosis.attempts import Attempts
from reenact.diagnosis.diagnosis import Diagnosis
from reenact.journal import Scope
from reenact.probe.surroundings import training_mark
from reenact.probe.trace import Trace
from reenact.program.program import Program
from reenact.repairs.fitness import not_the_same_twice
from reenact.repairs.judging import Judging, judging_by
from reenact.repairs.services import Services
from reenact.repairs.study import book
from reenact.repairs.wishes import Wishes, spending
from reenact.repairs.workbench import NOTHING, Workbench
from reenact.trials.executor import Executor
from reenact.trials.metric import choose_measure
from reenact.trials.trial import Part

WITHOUT_STUDY = ("guided", "autotrainer", "autotrainer-scratch", "llm")
"""Strategies that ask no sampler: what they look at is written into a study of theirs."""
CHOOSING = 40
"""Seeds apart between two repairs with another chance."""
FOR_MINIMISING = 0.15
"""Share of the budget that the search leaves."""


@dataclass(frozen=True)
class Prepared:
    """What the search begins with."""

    bench: Workbench
    judging: Judging
    notes: tuple[str, ...]


def prepare(
    program: Program,
    found: Diagnosis,
    trace: Trace,
    wishes: Wishes,
    services: Services,
    executor: Executor,
    run: Scope,
    *,
    watched: bool,
) -> Prepared:
    """Train the program as it stands, once or twice; `watched` says that its diagnosis counts too."""
    measure = choose_measure(trace, found.evidence.task, wishes.metric or None)
    budget = spending(wishes.budget)
    attempts = Attempts(
        program=program, executor=executor, measure=measure, spending=budget, one_training=trace.seconds,
        one_wall=trace.seconds, trials=run.under("trials"), stop=services.stop,
        seeds=choosing_seeds(wishes.chance), part=Part.SEARCH, shared=services.shared,
        training_time=wishes.training_time,
        around=services.around or training_mark(program, wishes.python, found.evidence.opened),
    )  # fmt: skip
    asked = attempts.trial(NOTHING, attempts.seeds[0])
    first = attempts.weigh()
    judging = judging_by(measure, first)
    attempts = replace(attempts, measure=judging.search, part=judging.search_part)
    # Where nothing could be halved, asking for a half changes nothing: the first training counts as whole.
    same = judging.search_part is asked.part or not first.halved
    base = asked if same else attempts.trial(NOTHING, attempts.seeds[0])
    notes = tuple(not_the_same_twice(replace(attempts, paid=set(), cpu_seconds=0.0), base))
    if watched:
        attempts.cpu_seconds += attempts.one_training
    suspects = tuple(one.suspect for one in (*found.accusations, *found.doubts))
    bench = Workbench(
        found.evidence, suspects, attempts, wishes, services.tell,
        note=lambda look: run.note(f"best/{len(bench.looks)}", look),
        studies=services.traces.parent / "studies" / run.run_id if services.studies else None,
        scratch=_folder(services.traces.parent / "weights" / run.run_id),
        model=services.model,
        questions=run.under("model"),
        at_once=wishes.at_once,
        begun_with=base,
    )  # fmt: skip
    bench.reserve = FOR_MINIMISING * bench.account[1]
    if wishes.strategy in WITHOUT_STUDY:
        bench.write = book(bench.studies, bench.name)
    return Prepared(bench, judging, notes)


def choosing_seeds(chance: int) -> tuple[int, ...]:
    """Seeds of the search, by its dice; none of them judges."""
    first = 11 + CHOOSING * chance
    return tuple(range(first, first + 6))


def _folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path
