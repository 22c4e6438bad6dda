"""The book of gradients as it was kept: what each backward pass brought, and what steps spent."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from reenact.types import Place


class Treatment(IntEnum):
    """What the program did to gradients between the last backward pass and the step."""

    AS_CAME = 0
    SCALED = 1
    """All by one factor."""
    CLIPPED = 2
    """Each number to a limit."""
    BY_TENSOR = 3
    """Each tensor by a factor of its own."""
    CHANGED = 4
    EMPTIED = 5
    """They were set to zero, and the step was taken."""
    BY_HAND = 6
    """The program put there what no backward pass had brought."""


@dataclass(frozen=True, slots=True)
class Treated:
    """One step, by the numbers that were looked at."""

    step: int
    owner: int
    came: float | None
    """Norm of the gradients as they came; none where it is not a number."""
    spent: float | None
    """The same at the step."""
    kind: Treatment
    factor: float | None


@dataclass(frozen=True, slots=True)
class Backward:
    """Where a backward pass was."""

    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Owner:
    """An optimizer; steps are those that were looked at and whose income is known."""

    type: str
    """Empty where weights are moved by hand."""
    tensors: int
    usable: int
    """Tensors whose gradients can be looked at."""
    steps: int
    again: int
    """Steps that spent again what an earlier step had spent."""
    again_share: float
    """The share of the gradients that was spent again by these."""
    idle: int
    """Steps without income since the one before."""
    by_hand: int
    inside: int
    """Steps whose gradients came while they stepped (closures)."""
    passes: int
    """Backward passes that these steps spent."""
    place: Place | None = None
    """Where it steps."""


@dataclass(frozen=True, slots=True)
class GradientsBook:
    """Of the steps that were looked at."""

    looks: int
    passes: int
    """Backward passes."""
    reached: int
    """Of them those that brought anything to an optimizer."""
    bad: int
    """Of them those that brought infinite numbers, or none."""
    spent: int
    """Passes that a step spent."""
    thrown: int
    """Passes that were cleared before any step spent them."""
    thrown_bad: int
    """The same, of those that brought infinite numbers."""
    used_otherwise: int
    """Passes that no step spent, and that served for something else."""
    same_line: bool
    """Whether passes that were thrown away come from a line whose other passes are spent."""
    thrown_at: Backward
    """The first that no step spent."""
    owners: tuple[Owner, ...]
    first_pass: Backward = Backward()
    treatments: tuple[tuple[float | None, ...], ...] = ()

    @property
    def treated(self) -> tuple[Treated, ...]:
        """What was done to the gradients of each step, in order."""
        return tuple(_treated(row) for row in self.treatments if len(row) == WIDTH)


WIDTH = 6
"""Numbers of a row: step, optimizer, norm as it came, norm at the step, kind, factor."""


def _treated(row: tuple[float | None, ...]) -> Treated:
    step, owner, came, spent, kind, factor = row
    return Treated(
        step=int(step or 0),
        owner=int(owner or 0),
        came=came,
        spent=spent,
        kind=Treatment(int(kind or 0)),
        factor=factor,
    )
