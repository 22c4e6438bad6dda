"""What every benchmark returns: goals beside what was reached, tables, and the full result as
data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reenact.types import ExitCode, JsonValue, Table

__all__ = ["Boxes", "Drawing", "Figure", "Goal", "Scorecard", "Table"]


@dataclass(frozen=True, slots=True)
class Goal:
    """One goal and what was reached; `met` is none when it could not be measured."""

    name: str
    wanted: str
    reached: str
    met: bool | None


@dataclass(frozen=True, slots=True)
class Figure:
    """One number that a table of results holds: its value, what it may be, of how many it is."""

    name: str
    value: float | None
    """None where there was nothing to measure."""
    low: float | None = None
    high: float | None = None
    """Ends of the 95 % interval, or of the spread."""
    part: int | None = None
    whole: int | None = None
    digits: int = 2

    def __format__(self, spec: str) -> str:
        """`count`: 27 of 35. `interval`: 0.61 to 0.88. Empty: the value. Else a format of the
        value.
        """
        ends = (self.part, self.whole) if spec == "count" else (self.low, self.high)
        if spec in ("count", "interval"):
            word = "of" if spec == "count" else "to"
            return "-" if None in ends else f" {word} ".join(self._shown(end) for end in ends)
        return "-" if self.value is None else format(self.value, spec or f".{self.digits}f")

    def _shown(self, end: float | None) -> str:
        return str(end) if isinstance(end, int) else f"{end:.{self.digits}f}"

    @property
    def row(self) -> tuple[str, str, str, str]:
        """Of a table of figures."""
        return self.name, f"{self}", f"{self:interval}", f"{self:count}"


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
class Drawing:
    """A finished drawing."""

    name: str
    """Of its file."""
    title: str
    svg: str


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
    plots: tuple[Boxes | Drawing, ...] = ()
    """Drawings, each a file beside it."""
    measured: Mapping[str, Figure] = field(default_factory=dict)
    """The figures as numbers, each by a short name that the sentences of README use."""
    cases: str = ""
    """A hash over the cases that were measured; empty: over all files of this benchmark's
    folder of cases.
    """

    @property
    def exit_code(self) -> ExitCode:
        """0 all goals met, 1 one missed, 3 one could not be measured."""
        if any(goal.met is False for goal in self.goals):
            return ExitCode.FOUND
        if not self.goals or any(goal.met is None for goal in self.goals):
            return ExitCode.INCONCLUSIVE
        return ExitCode.OK
