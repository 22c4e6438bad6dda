"""A mutant is a program with one fault put in on purpose; an operator makes mutants of one sort."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from reenact.errors import PatchRefused
from reenact.program.change import Change
from reenact.program.fault import Fault
from reenact.program.hyperparameter import Hyperparameter, Kind
from reenact.program.patch import Patch
from reenact.program.program import Program
from reenact.program.static_graph import hyperparameters_of

Proposals: TypeAlias = Iterator[tuple[Change, ...]]


@dataclass(frozen=True, slots=True)
class Mutant:
    """One way to break a program."""

    JSON: ClassVar = ("operator", "fault", "patch")

    patch: Patch
    operator: str
    """Name of the operator that made it."""
    fault: Fault

    @property
    def name(self) -> str:
        """What is changed, in one line."""
        return f"{self.operator}: {self.patch}"


@dataclass(frozen=True, slots=True)
class Operator:
    """One sort of fault."""

    name: str
    fault: Fault
    what: str
    """One sentence for the list of operators."""
    propose: Callable[[Sequence[Hyperparameter]], Proposals]
    """Changes worth making to a program with these hyperparameters; those that it does not allow are left out
    later."""
    covers: tuple[str, ...] = ()
    """DeepCrime's operators that this one restates, by their codes."""

    def mutants(self, program: Program) -> Iterator[Mutant]:
        """Every mutant that can really be made: the patch applies, parses, and changes something."""
        seen = {_text(program)}
        for changes in self.propose(hyperparameters_of(program)):
            patch = Patch(changes)
            try:
                text = _text(patch.apply(program))
            except PatchRefused:
                continue
            if text not in seen:
                seen.add(text)
                yield Mutant(patch, self.name, self.fault)


def turnable(params: Sequence[Hyperparameter], *kinds: Kind) -> Iterator[Hyperparameter]:
    """The hyperparameters of these kinds that a patch can turn."""
    return (param for param in params if param.kind in kinds and param.changeable)


def number(param: Hyperparameter) -> float | None:
    """The number in force, if it is one."""
    value = param.in_force
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _text(program: Program) -> tuple[object, ...]:
    return (*(file.raw for file in program.files), *program.launch.words)
