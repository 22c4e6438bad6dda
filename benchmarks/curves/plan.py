"""What is trained for its curves: faulty programs, and changes of each that a search might try."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from benchmarks.children import ROOT
from benchmarks.dataset.splits import published, trainings_of
from benchmarks.dataset.training import TRAININGS
from benchmarks.detector.plan import BASES
from benchmarks.faults.case import FaultCase, Scale, Side
from benchmarks.faults.cases import catalogue as fault_cases
from benchmarks.faults.programs import availability, materialise
from reenact.diagnosis.mutate.operators import OPERATORS, Mutant, number
from reenact.errors import InputError, PatchRefused
from reenact.program.edit.change import Change, Replace, Set
from reenact.program.hyperparameter import Hyperparameter, Kind
from reenact.program.patch import Patch, change_for
from reenact.program.program import Program, read_program
from reenact.program.static_graph import hyperparameters_of
from reenact.program.training.alternatives import same_value
from reenact.repairs.space import fitting, space_of

PUBLISHED_HALVES = ("tune", "confirm", "fresh")
"""Splits of `modern` whose programs are used, by the names that the kept curves use."""
CHANGES = 7
"""Of one faulty program."""
MUTANTS = 4
"""Of one sound program."""
MUTATED = (
    "learning-rate",
    "optimizer",
    "activation-hidden",
    "weight-init",
    "momentum",
    "regularisation",
    "activation-output",
)
"""Operators that make a program faulty; those that mostly do no harm are left out."""
RATES = (10.0, 0.1, 100.0, 0.01, 3.0, 0.3)
"""Times the learning rate."""
WITH_MORE = 3
"""Changes that are tried together with the one that takes a fault back."""
AT_MOST = 1.5
"""Times the epochs: longer trainings are not recorded."""


@dataclass(frozen=True)
class Start:
    """A faulty program and the changes that are tried on it."""

    name: str
    group: str
    """The program that it was made of: all of one group are in one half."""
    program: Program
    changes: tuple[Patch, ...]


def half_of(group: str) -> str:
    """`tune` or `confirm`, by the name of the group."""
    return "tune" if hashlib.sha256(group.encode()).digest()[0] % 2 else "confirm"


def groups() -> list[str]:
    """Names of the programs, in an order in which any first part is a fair sample."""
    names = [*_faults(), *_programs()]
    return sorted(names, key=lambda name: hashlib.sha256(name.encode()).hexdigest())


def starts_of(group: str, scratch: Path) -> list[Start]:
    """What is made of one program; one of the faults is written into `scratch`."""
    faults = _faults()
    if group in faults:
        entry = materialise(faults[group], Side.BUGGY, Scale.LITE, scratch / group)
        program = read_program((entry.name,), entry.parent)
        return [Start(group, group, program, _changes(program, _chance(group)))]
    words, folder = _programs()[group]
    return list(_mutated(group, read_program(words, folder)))


def _faults() -> dict[str, FaultCase]:
    """Those whose programs make their own data."""
    return {
        case.id: case for case in fault_cases() if not case.data and availability(case).runnable
    }


def _programs() -> dict[str, tuple[tuple[str, ...], Path]]:
    """Words and folder of sound programs of other benchmarks: those of one file that need no
    package beside the frameworks.
    """
    found: dict[str, tuple[tuple[str, ...], Path]] = {}
    for prefix, folder in (
        ("base", BASES),
        ("probe", ROOT / "benchmarks" / "cases" / "probe"),
    ):
        for script in sorted(folder.glob("*.py")):
            found[f"{prefix}-{script.stem}"] = ((script.name,), folder)
    for half in PUBLISHED_HALVES:
        for training in trainings_of(published("modern")[half]):
            is_script = training.path.endswith(".py") and not training.module
            if training.sound and is_script and not training.needs:
                found[f"{half}-{training.shown}"] = (
                    training.words,
                    TRAININGS / training.id,
                )
    return found


def _mutated(name: str, program: Program) -> Iterator[Start]:
    """With a fault put in, several times; among the changes is the one that takes it back, by
    itself and with others.
    """
    chance = _chance(name)
    for mutant in _mutants(program, chance):
        faulty = mutant.patch.apply(program)
        back = _taken_back(program, faulty)
        more = _changes(faulty, chance)
        with_more = [_together(back, one, faulty) for one in more[-WITH_MORE:]] if back else []
        wanted = [one for one in (back, *with_more) if one]
        changes = (*wanted, *more[: CHANGES - len(wanted)])
        if changes:
            yield Start(f"{name}/{mutant.operator}", name, faulty, changes)


def _together(one: Patch, other: Patch, program: Program) -> Patch | None:
    """Both at once; none where they change the same."""
    same = {change.hyperparameter for change in one.changes if isinstance(change, Set | Replace)}
    rest = [
        change for change in other.changes if getattr(change, "hyperparameter", None) not in same
    ]
    patch = one + Patch(tuple(rest))
    return patch if rest and _applies(patch, program) else None


def _mutants(program: Program, chance: random.Random) -> Iterator[Mutant]:
    """A few, of different operators."""
    kinds = [kind for kind in OPERATORS if kind.name in MUTATED]
    chance.shuffle(kinds)
    chosen = (
        chance.choice(few) for kind in kinds if (few := list(islice(kind.mutants(program), 5)))
    )
    return islice(chosen, MUTANTS)


def _taken_back(sound: Program, faulty: Program) -> Patch | None:
    """The change that gives every hyperparameter the value of the sound program."""
    values = {param.id: param.in_force for param in hyperparameters_of(sound)}
    changes = [
        change_for(param, values[param.id])
        for param in hyperparameters_of(faulty)
        if param.changeable
        and param.id in values
        and not same_value(values[param.id], param.in_force)
    ]
    patch = Patch(tuple(changes))
    return patch if changes and _applies(patch, faulty) else None


def _changes(program: Program, chance: random.Random) -> tuple[Patch, ...]:
    """Other learning rates, and single and double changes of the search space."""
    params = [param for param in hyperparameters_of(program) if param.changeable]
    found: list[Patch] = []
    rates = [param for param in params if param.kind is Kind.LEARNING_RATE and number(param)]
    for factor in chance.sample(RATES, 2) if rates else ():
        rate = chance.choice(rates)
        found.append(Patch((Set(rate.id, float(f"{(number(rate) or 0) * factor:.3g}")),)))
    try:
        space = space_of(params, "own")
    except InputError:
        return tuple(found)
    for _ in range(5 * CHANGES):
        if len(found) == CHANGES:
            break
        wanted = chance.sample(space, min(len(space), chance.choice((1, 1, 2))))
        drawn = [_drawn(one.hyperparameter, one.values, chance) for one in wanted]
        patch = fitting(
            [change for change in drawn if change is not None],
            lambda one: _applies(one, program),
        )
        if patch and patch not in found:
            found.append(patch)
    return tuple(patch for patch in found if _applies(patch, program))


def _drawn(param: Hyperparameter, values: Sequence[object], chance: random.Random) -> Change | None:
    """Another value; none where it would train for long."""
    if not values:
        rate = number(param) or 0.0
        return Set(param.id, float(f"{rate * chance.choice(RATES):.3g}")) if rate else None
    value = chance.choice(values[1:])
    if (
        param.kind is Kind.EPOCHS
        and isinstance(value, int)
        and value > AT_MOST * (number(param) or value)
    ):
        return None
    return change_for(param, value)  # type: ignore[arg-type]


def _applies(patch: Patch, program: Program) -> bool:
    try:
        patch.apply(program)
    except PatchRefused:
        return False
    return True


def _chance(name: str) -> random.Random:
    return random.Random(name)  # noqa: S311 - a sample, no secret
