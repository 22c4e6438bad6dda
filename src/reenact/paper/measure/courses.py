"""The curves of all seeds, those of one metric together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from reenact.paper.measure.curves import Curve
from reenact.paper.measure.runs import FullRun

NUMBERED = re.compile(r" ?\(\d+\)$")
"""What `curves` adds to the label of a second training of the same name."""


@dataclass(frozen=True, slots=True)
class Course:
    """The same curve of every training that logged it."""

    metric: str
    axis: str
    label: str
    """The training, in the words of the runs; empty when they have one."""
    seeds: tuple[int, ...]
    curves: tuple[Curve, ...]

    @property
    def counted(self) -> str:
        """The seeds, in words; the trainings, where one seed has several."""
        if len(set(self.seeds)) < len(self.seeds):
            return f"{len(self.seeds)} trainings"
        if len(self.seeds) > 1:
            return f"{len(self.seeds)} seeds"
        return f"seed {self.seeds[0]}"

    @property
    def name(self) -> str:
        """What it is called next to the others of its metric."""
        return self.label or self.counted

    @property
    def ends(self) -> tuple[float, float] | None:
        """First and last value, means over the seeds; none when there is no number."""
        known = [[value for value in one.values if value is not None] for one in self.curves]
        pairs = [(values[0], values[-1]) for values in known if values]
        if pairs:
            return (
                fmean(one for one, _ in pairs),
                fmean(one for _, one in pairs),
            )
        return None

    @property
    def until(self) -> str:
        """Where it ends, such as `epoch 40`."""
        return f"{self.axis} {max(one.at[-1] for one in self.curves):g}"

    @property
    def broken(self) -> int:
        """Seeds with values that are not numbers."""
        return sum(None in one.values for one in self.curves)


def courses(runs: Sequence[FullRun]) -> list[Course]:
    """All courses, those of one metric next to one another, in the order in which the runs log
    them. Trainings of one method are one course, also when one run has several.
    """
    found: dict[tuple[str, str], dict[str, list[tuple[int, Curve]]]] = {}
    for seed, curve in ((run.seed, curve) for run in runs for curve in run.curves):
        of_metric = found.setdefault((curve.metric, curve.axis), {})
        of_metric.setdefault(_method(curve.label), []).append((seed, curve))
    groups = [(*key, *one) for key, of_metric in found.items() for one in of_metric.items()]
    return [
        Course(
            metric,
            axis,
            label,
            *zip(*pairs, strict=True),
        )
        for metric, axis, label, pairs in groups
    ]


def _method(label: str) -> str:
    """The label of the first training of its name; a run numbers the further ones."""
    return NUMBERED.sub("", label)
