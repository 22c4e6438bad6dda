"""From planned trainings to labelled rows: train, judge whether a mutant is really worse, read
the traces.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from benchmarks.detector.plan import Planned
from reenact.diagnosis.learned.features import features
from reenact.diagnosis.mutate.pipeline import killed
from reenact.errors import ended_by
from reenact.faults.evidence import Evidence
from reenact.faults.fault_type import FaultType
from reenact.probe.read import read_trace
from reenact.probe.trace import Root
from reenact.program.static_graph import static_graph
from reenact.trials.executor import Executor
from reenact.trials.metric import Measure, choose_measure
from reenact.trials.trial import Outcome, Trial
from reenact.types import Progress, Stop, Tell

TOLERANCE = 0.02
"""A mutant so close to its original, as a share of what the original reached, counts as healthy."""


@dataclass(frozen=True)
class Row:
    """One training the detector learns from."""

    base: str
    """Name of the base program."""
    mutant: str
    """What was changed; rows of one mutant differ in their seeds."""
    faults: frozenset[FaultType]
    """Empty for a healthy training."""
    seed: int
    features: Mapping[str, float]


@dataclass(frozen=True)
class Known:
    """A program, and what is wrong with it."""

    planned: Planned
    faults: frozenset[FaultType] = frozenset()
    """Empty for a healthy one."""


def train(
    planned: Sequence[Planned], executor: Executor, tell: Tell, stop: Stop
) -> dict[str, Outcome]:
    """The outcome of every trial by its key. Trials are done in an order in which any part of them
    is a fair sample: all bases by turns, first seeds first. Raises Stopped.
    """
    todo = in_turns(planned)
    done = 0

    def keep(trial: Trial, outcome: Outcome) -> None:
        nonlocal done
        done += 1
        note = f"{trial.program.entry.stem}, {outcome.kind.value}"
        tell(Progress("trainings", done, len(todo), note))

    outcomes = executor.run(todo, on=keep, stop=stop)
    if stop.asked:
        raise ended_by(stop, "Stopped while the detector's programs were being trained.")
    return {trial.key: outcome for trial, outcome in zip(todo, outcomes, strict=True)}


def in_turns(planned: Sequence[Planned]) -> list[Trial]:
    """All trials, seed by seed, the bases by turns."""
    ranked: list[tuple[int, int, int, Trial]] = []
    seen: dict[str, int] = {}
    for number, one in enumerate(planned):
        turn = seen[one.base] = seen.get(one.base, 0) + 1
        ranked += [(place, turn, number, trial) for place, trial in enumerate(one.trials)]
    ranked.sort(key=lambda item: item[:3])
    return [trial for *_, trial in ranked]


def rows(known: Iterable[Known], outcomes: Mapping[str, Outcome]) -> Iterator[Row]:
    """One row a training that ended well."""
    for one in known:
        for seed, evidence in evidence_of(one.planned, outcomes):
            yield Row(
                one.planned.base,
                str(one.planned.patch),
                one.faults,
                seed,
                features(evidence),
            )


def labelled(planned: Sequence[Planned], outcomes: Mapping[str, Outcome]) -> Iterator[Known]:
    """What is wrong with each program: faulty when significantly worse than the original, healthy
    when as good, else left out. A double fault keeps the names of those faults that are faults
    alone as well.
    """
    for base in dict.fromkeys(one.base for one in planned):
        yield from _labelled([one for one in planned if one.base == base], outcomes)


def _labelled(planned: Sequence[Planned], outcomes: Mapping[str, Outcome]) -> Iterator[Known]:
    original = next(one for one in planned if one.original)
    first = outcomes[original.trials[0].key]
    measure = choose_measure(first)
    before = _values(original, outcomes, measure)
    guilty: set[str] = set()
    for one in planned:
        after = _values(one, outcomes, measure)
        if not one.operators:
            if as_good(before, after):
                yield Known(one)
        elif killed(before, after).killed:
            single = len(one.operators) == 1
            guilty |= set(map(str, one.patch.changes)) if single else set()
            kept = one.faults if single else _remaining(one, guilty)
            if kept:
                yield Known(one, frozenset(kept))
        elif as_good(before, after):
            yield Known(one)


def _remaining(one: Planned, guilty: set[str]) -> tuple[FaultType, ...]:
    """The faults of a double mutant: all of them, when each of its changes is part of a killed
    single one.
    """
    return one.faults if all(str(change) in guilty for change in one.patch.changes) else ()


def as_good(before: Sequence[float], after: Sequence[float]) -> bool:
    """Whether a mutant reaches what the original does, to a tolerance. Both are oriented."""
    if not all(map(math.isfinite, (*before, *after))):
        return False
    spread = max(before) - min(before)
    return fmean(after) >= fmean(before) - max(TOLERANCE * abs(fmean(before)), spread / 2)


def _values(one: Planned, outcomes: Mapping[str, Outcome], measure: Measure) -> tuple[float, ...]:
    return tuple(measure.score(outcomes[trial.key]) for trial in one.trials)


def evidence_of(one: Planned, outcomes: Mapping[str, Outcome]) -> Iterator[tuple[int, Evidence]]:
    """What was seen of one program, by its seeds; a crash speaks for itself, and leaves nothing."""
    for trial in one.trials:
        outcome = outcomes[trial.key]
        if outcome.trace is None or not outcome.trained:
            continue
        trace = read_trace(outcome.trace, root=Root(one.program.folder))
        yield trial.seed, Evidence(trial.patched, static_graph(trial.patched), trace)
