"""Which number chooses and which one judges, and on which data.

A change is searched on one part of the evaluation data and judged on the other. Where the data can be taken
apart, each gets a half; where the program measures on validation and on test data, the one chooses and the
other judges; else both are the same data, and only the seeds are fresh, and the report says so.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

from reenact.trials.metric import Measure
from reenact.trials.trial import Outcome, Part


@dataclass(frozen=True, slots=True)
class Judging:
    """How candidates are chosen and how the final one is judged."""

    JSON: ClassVar = (
        "search=search.name", "judge=judge.name", "larger_is_better=judge.larger_is_better", "held_out",
        "sentence",
    )  # fmt: skip

    search: Measure
    judge: Measure
    search_part: Part
    judge_part: Part
    sentence: str
    """What is held out, in words."""

    @property
    def held_out(self) -> bool:
        return self.search_part is not self.judge_part or self.search != self.judge


def judging_by(measure: Measure, halved: Outcome) -> Judging:
    """`halved` is a training of the program as it stands that was asked to measure on the search half."""
    if measure.read(halved) is None:
        # A program that prints `nan` does not tell where the metric stands when it does well.
        measure = replace(measure, source=None)
    if halved.halved and measure.name in halved.metrics:
        sentence = "searched on one half of the evaluation data, judged on the other"
        return Judging(measure, measure, Part.SEARCH, Part.JUDGE, sentence)
    twin = _validation_twin(measure, halved)
    if twin is not None:
        sentence = f"searched by {twin.name}, judged by {measure.name}"
        return Judging(twin, measure, Part.WHOLE, Part.WHOLE, sentence)
    sentence = "the evaluation data could not be taken apart: only the seeds that judge are fresh"
    return Judging(measure, measure, Part.WHOLE, Part.WHOLE, sentence)


def _validation_twin(measure: Measure, outcome: Outcome) -> Measure | None:
    """The same metric on validation data, when that is other data than what judges."""
    if not measure.name.startswith("test_"):
        return None
    name = "val_" + measure.name.removeprefix("test_")
    known = outcome.metrics
    if name not in known or known[name] == known.get(measure.name):
        return None
    return replace(measure, name=name, source=outcome.sources.get(name))
