"""What the full runs of one experiment tell together: a metric of one of its trainings, over the seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Protocol

from reenact.paper.measure.curves.curve import Curve

NOTHING = (
    "The runs told nothing of their training: no printed line and no log file has a loss or a metric "
    "by epoch or step."
)


class Ran(Protocol):
    """A full run, as it is or as a page keeps it."""

    @property
    def seed(self) -> int: ...
    @property
    def ok(self) -> bool: ...
    @property
    def metrics(self) -> Mapping[str, float]: ...
    @property
    def curves(self) -> Sequence[Curve]: ...


@dataclass(frozen=True, slots=True)
class Course:
    """The same curve of every seed that told it."""

    metric: str
    axis: str
    label: str
    """The training, in the words of the runs; empty when they have one."""
    seeds: tuple[int, ...]
    curves: tuple[Curve, ...]

    @property
    def counted(self) -> str:
        """The seeds, in words."""
        return f"{len(self.seeds)} seeds" if len(self.seeds) > 1 else f"seed {self.seeds[0]}"

    @property
    def name(self) -> str:
        """What it is called beside the others of its metric."""
        return self.label or self.counted

    @property
    def ends(self) -> tuple[float, float] | None:
        """First and last value, means over the seeds; none when there is no number."""
        known = [[value for value in one.values if value is not None] for one in self.curves]
        pairs = [(values[0], values[-1]) for values in known if values]
        return (fmean(one for one, _ in pairs), fmean(one for _, one in pairs)) if pairs else None

    @property
    def until(self) -> str:
        """Where it ends, such as `epoch 40`."""
        return f"{self.axis} {max(one.at[-1] for one in self.curves):g}"

    @property
    def broken(self) -> int:
        """Seeds with values that are no numbers."""
        return sum(None in one.values for one in self.curves)


def courses(runs: Sequence[Ran]) -> list[Course]:
    """All courses, those of one metric beside one another, in the order in which the runs tell them."""
    found: dict[tuple[str, str, str], list[tuple[int, Curve]]] = {}
    for run in runs:
        for curve in run.curves:
            found.setdefault((curve.metric, curve.axis, curve.label), []).append((run.seed, curve))
    made = [
        Course(*key, tuple(seed for seed, _ in told), tuple(curve for _, curve in told))
        for key, told in found.items()
    ]
    order = list(dict.fromkeys((one.metric, one.axis) for one in made))
    return sorted(made, key=lambda one: order.index((one.metric, one.axis)))
