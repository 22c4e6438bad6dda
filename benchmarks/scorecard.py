"""What every benchmark returns: goals beside what was reached, tables, and the full result as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reenact.types import ExitCode, JsonValue, Table

__all__ = ["Boxes", "Goal", "Scorecard", "Table"]


@dataclass(frozen=True, slots=True)
class Goal:
    """One goal and what was reached; `met` is none when it could not be measured."""

    name: str
    wanted: str
    reached: str
    met: bool | None


@dataclass(frozen=True, slots=True)
class Boxes:
    """Samples to be drawn as box plots: one band a row, one box in it for each series."""

    name: str
    """Of its file."""
    title: str
    below: str
    """What the axis counts."""
    rows: tuple[tuple[str, Mapping[str, tuple[float, ...]]], ...]
    marks: Mapping[str, float] = field(default_factory=dict)
    """Row to a value worth comparing with, drawn as a triangle."""
    marked: str = ""
    """What the triangles are."""
    goal: float | None = None
    """A line across all bands."""
    bounds: tuple[float, float] | None = None
    """Of the axis; what lies beyond is drawn at its ends."""


@dataclass(frozen=True, slots=True)
class Scorecard:
    """The outcome of one `python -m benchmarks NAME`."""

    name: str
    figures: str
    """The figures of the closing line `NAME: <figures>`."""
    goals: tuple[Goal, ...]
    tables: tuple[Table, ...] = ()
    facts: JsonValue = field(default_factory=dict)
    """Everything measured, for the JSON file."""
    plots: tuple[Boxes, ...] = ()
    """Drawings, each a file beside it."""

    @property
    def exit_code(self) -> ExitCode:
        """0 all goals met, 1 one missed, 3 one could not be measured."""
        if any(goal.met is False for goal in self.goals):
            return ExitCode.FOUND
        if not self.goals or any(goal.met is None for goal in self.goals):
            return ExitCode.INCONCLUSIVE
        return ExitCode.OK
