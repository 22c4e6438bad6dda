"""Mutation testing of one training program: original and mutants over seeds, which of them are killed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from reenact.diagnosis.mutate.kill import Killing, killed, oriented_values
from reenact.diagnosis.mutate.mutant import Mutant
from reenact.errors import InputError, ended_by
from reenact.journal import Journal, OpenRun
from reenact.probe.surroundings import surroundings
from reenact.program.patch import Patch
from reenact.program.program import Program
from reenact.trials.executor import Executor
from reenact.trials.metric import Measure, choose_measure
from reenact.trials.outcome import Outcome
from reenact.trials.pool import ProcessPool
from reenact.trials.trial import Trial, TrialLimits
from reenact.types import ExitCode, JsonValue, Progress, Stop, Tell, tell_nobody

PATIENCE = 20.0
LEAST_SECONDS = 60.0
MOST_SEEDS = 1000
"""Trainings of each that are ever worth their time."""
AT_ONCE = 8
"""Trainings between two looks at the journal: so many at most are lost when the power goes."""


@dataclass(frozen=True)
class KillOptions:
    """How to kill."""

    seeds: int = 5
    metric: str = ""
    """The metric that judges; empty: chosen from the original's first training."""
    workers: int = 0
    """Parallel trainings; 0: one per core."""
    python: str = ""

    def to_json(self) -> dict[str, JsonValue]:
        return {"seeds": self.seeds, "metric": self.metric, "python": self.python}


@dataclass(frozen=True)
class KillServices:
    """What it needs from outside."""

    journal: Journal
    tell: Tell = tell_nobody
    stop: Stop = field(default_factory=Stop)
    executor: Callable[[KillOptions], Executor] | None = None
    """Another way to train; none: a pool of processes."""
    argv: Sequence[str] = ()


@dataclass(frozen=True)
class Killings:
    """What came of the mutants."""

    measure: Measure
    by_mutant: tuple[tuple[Mutant, Killing], ...]

    @property
    def score(self) -> float:
        """Share of mutants that the training notices."""
        dead = sum(killing.killed for _, killing in self.by_mutant)
        return dead / len(self.by_mutant) if self.by_mutant else 0.0

    def to_json(self) -> JsonValue:
        return {
            "measure": self.measure.name,
            "score": self.score,
            "mutants": [
                {
                    "operator": mutant.operator,
                    "fault": mutant.fault.value,
                    "patch": mutant.patch.to_json(),
                    "p_value": killing.p_value,
                    "effect": _plain(killing.effect),
                    "killed": killing.killed,
                }
                for mutant, killing in self.by_mutant
            ],
        }


def kill(
    program: Program, mutants: Sequence[Mutant], options: KillOptions, services: KillServices
) -> Killings:
    """Train the original and every mutant over seeds; the same call after an interruption continues."""
    if not 2 <= options.seeds <= MOST_SEEDS:
        raise InputError(
            f"A test over seeds needs at least 2 of them, and {MOST_SEEDS} suffice for any."
            f" Received: seeds={options.seeds}."
        )
    texts: list[JsonValue] = [mutant.patch.to_text() for mutant in mutants]
    request = {"program": Trial(program).key, "mutants": texts, **options.to_json()}
    make = services.executor or _pool
    with (
        services.journal.run(
            pipeline="mutate", request=request, argv=services.argv, what=str(program.entry)
        ) as run,
        make(options) as executor,
    ):
        training = _Training(program, executor, run, services, surroundings(program, options.python))
        original = training.outcomes([Patch()], options.seeds)[0]
        measure = choose_measure(original[0], wanted=options.metric or None)
        before = oriented_values(original, measure)
        longest = max(outcome.seconds for outcome in original)
        training.limits = TrialLimits(seconds=max(LEAST_SECONDS, PATIENCE * longest))
        after = training.outcomes([mutant.patch for mutant in mutants], options.seeds)
        pairs = tuple(
            (mutant, killed(before, oriented_values(outcomes, measure)))
            for mutant, outcomes in zip(mutants, after, strict=True)
        )
        found = Killings(measure, pairs)
        run.finish(found.to_json(), ExitCode.OK)
    return found


@dataclass
class _Training:
    """Runs trials over seeds and journals them."""

    program: Program
    executor: Executor
    run: OpenRun
    services: KillServices
    around: dict[str, JsonValue]
    limits: TrialLimits = field(default_factory=TrialLimits)

    def outcomes(self, patches: Sequence[Patch], seeds: int) -> list[list[Outcome]]:
        """The outcomes of each patch, in the order of the seeds 0, 1, ..."""
        trials = [Trial(self.program, patch, seed, self.limits) for patch in patches for seed in range(seeds)]
        wanted = {_name(trial): trial for trial in trials}

        def train(names: tuple[str, ...]) -> Iterator[Mapping[str, JsonValue]]:
            for start in range(0, len(names), AT_ONCE):
                group = names[start : start + AT_ONCE]
                self.services.tell(Progress("trainings", start, len(names)))
                found = self.executor.run([wanted[name] for name in group], stop=self.services.stop)
                if self.services.stop.asked:
                    raise ended_by(self.services.stop, "Stopped while mutants were being trained.")
                yield {name: outcome.to_json() for name, outcome in zip(group, found, strict=True)}

        stored = self.run.under("trials").many(dict.fromkeys(wanted, self.around), train)
        known = [Outcome.from_json(stored[_name(trial)]) for trial in trials]
        return [known[at : at + seeds] for at in range(0, len(known), seeds)]


def _name(trial: Trial) -> str:
    """A name that does not depend on the limits, which follow from the machine's speed."""
    return Trial(trial.program, trial.patch, trial.seed).key


def _pool(options: KillOptions) -> ProcessPool:
    return ProcessPool(workers=options.workers or None, python=options.python)


def _plain(value: float) -> float | str:
    """JSON knows no infinity."""
    return value if value == value and abs(value) != float("inf") else str(value)
