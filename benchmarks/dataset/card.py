"""The score card of `python -m benchmarks trainings`, in the layout of its sort of programs."""

from __future__ import annotations

from dataclasses import asdict

from benchmarks.dataset import layout_foreign, layout_own
from benchmarks.dataset.lock import digest_of_all
from benchmarks.dataset.scoring import Scored
from benchmarks.scorecard import Scorecard


def scorecard(measured: Scored) -> Scorecard:
    """Everything that was measured; goals are judged where a whole split was."""
    is_foreign = any(pair.training.foreign is not None for pair in measured.pairs)
    layout = layout_foreign if is_foreign else layout_own
    return Scorecard(
        name=layout.name(measured),
        figures=layout.closing(measured),
        goals=tuple(layout.goals(measured)),
        tables=tuple(layout.tables(measured)),
        measured=layout.figures(measured),
        facts={measured.split.label: [asdict(pair.result) for pair in measured.pairs]},
        cases=digest_of_all([pair.training.id for pair in measured.pairs]),
    )
