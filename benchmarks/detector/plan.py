"""Which trainings the detector learns from: base programs, harmless variants, mutants, and
double faults.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from reenact.diagnosis.mutate.operators import OPERATORS, Mutant, number, turnable
from reenact.errors import PatchRefused
from reenact.faults.fault_type import FaultType
from reenact.program.edit.change import Change, Set
from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch
from reenact.program.program import Program, read_program
from reenact.program.static_graph import hyperparameters_of
from reenact.trials.trial import Trial, TrialLimits

BASES = Path(__file__).parent / "bases"
MOST = {
    "learning-rate": 5,
    "epochs": 2,
    "batch-size": 1,
    "no-batches": 1,
    "optimizer": 3,
    "loss": 5,
    "activation-hidden": 3,
    "activation-output": 3,
    "activation-removed": 2,
    "activation-added": 3,
    "weight-init": 3,
    "regularisation": 3,
    "regularisation-changed": 1,
    "weight-decay": 2,
    "dropout": 1,
    "units": 1,
    "scaling": 1,
    "momentum": 1,
    "gradient-clip": 1,
}
"""Mutants an operator gives for each base; operators that are not named give none."""
DOUBLES = (
    ("learning-rate", "activation-hidden"),
    ("epochs", "optimizer"),
    ("loss", "learning-rate"),
)
SEEDS = (1, 2)
HEALTHY_SEEDS = (1, 2, 3, 4, 5)
WITHIN = TrialLimits(seconds=300)
PRESET = "normal"
"""As a diagnosis watches, so that both see the same."""


@dataclass(frozen=True)
class Planned:
    """One program to train over seeds."""

    base: str
    """Name of the base program."""
    program: Program
    patch: Patch
    operators: tuple[str, ...]
    """Empty for the base itself and its harmless variants."""
    faults: tuple[FaultType, ...]
    seeds: tuple[int, ...]

    @property
    def original(self) -> bool:
        return not self.patch

    @cached_property
    def trials(self) -> tuple[Trial, ...]:
        return tuple(
            Trial(self.program, self.patch, seed, WITHIN, PRESET, keep_trace=True)
            for seed in self.seeds
        )


def base_programs() -> tuple[Program, ...]:
    """The base programs that travel with the package."""
    return tuple(read_program((str(script),), BASES) for script in sorted(BASES.glob("*.py")))


def plan(programs: Sequence[Program], *, quick: bool = False) -> tuple[Planned, ...]:
    """Everything to train. Quick: a third of the mutants, for trying the machinery."""
    found: list[Planned] = []
    for program in programs:
        name = program.entry.stem
        found.append(Planned(name, program, Patch(), (), (), HEALTHY_SEEDS))
        found += [Planned(name, program, patch, (), (), SEEDS[:1]) for patch in harmless(program)]
        singles = _singles(program, quick)
        found += [
            Planned(name, program, one.patch, (one.operator,), (one.fault,), SEEDS)
            for one in singles
        ]
        if not quick:
            found += _doubles(name, program, singles)
    return tuple(found)


def harmless(program: Program) -> Iterator[Patch]:
    """Changes that a healthy training bears: what is merely unusual must not look like a fault."""
    for changes in _mild(program):
        patch = Patch(changes)
        try:
            patch.apply(program)
        except PatchRefused:
            continue
        yield patch


def _mild(program: Program) -> Iterator[tuple[Change, ...]]:
    params = hyperparameters_of(program)
    for kind, factors in ((Kind.LEARNING_RATE, (2.0, 0.5)), (Kind.BATCH_SIZE, (2.0,))):
        for param in turnable(params, kind):
            value = number(param)
            for factor in factors if value else ():
                scaled = (value or 1.0) * factor
                yield (
                    Set(
                        param.id,
                        scaled if kind is Kind.LEARNING_RATE else round(scaled),
                    ),
                )
    hidden = [k for k in turnable(params, Kind.ACTIVATION) if k.role != "output" and not k.absent]
    if hidden:
        yield tuple(Set(param.id, "leaky_relu") for param in hidden)


def _singles(program: Program, quick: bool) -> list[Mutant]:
    found: list[Mutant] = []
    for operator in OPERATORS:
        most = MOST.get(operator.name, 0)
        affordable = [one for one in operator.mutants(program) if not _costly(program, one)]
        found += _spread(affordable, max(1, most // 3) if quick and most else most)
    return found


def _spread(found: Sequence[Mutant], most: int) -> Sequence[Mutant]:
    """The first ones, unless those of one sort come first: then every second."""
    return found[:most] if len(found) < 2 * most else found[::2][:most]


def _costly(program: Program, mutant: Mutant) -> bool:
    """Batches of one or two rows make a training ten times as long."""
    sizes = {
        param.id: number(param) or 1.0
        for param in turnable(hyperparameters_of(program), Kind.BATCH_SIZE)
    }
    for change in mutant.patch.changes:
        if (
            isinstance(change, Set)
            and change.hyperparameter in sizes
            and isinstance(change.value, int)
        ):
            return change.value < sizes[change.hyperparameter] / 4
    return False


def _doubles(name: str, program: Program, singles: Sequence[Mutant]) -> Iterator[Planned]:
    """One of each pair; which mutants meet differs between the bases."""
    for pair in DOUBLES:
        first, second = ([one for one in singles if one.operator == operator] for operator in pair)
        if first and second:
            left, right = first[len(name) % len(first)], second[len(name) % len(second)]
            yield Planned(
                name,
                program,
                left.patch + right.patch,
                pair,
                (left.fault, right.fault),
                SEEDS,
            )
