"""Whether what is reported of evaluations is what its name says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reenact.accounts.account import Entry, balances, fact, imbalance, unseen
from reenact.accounts.recomputed import (
    RATIOS,
    Meaning,
    agrees,
    judges,
    meaning_of,
    meanings,
    of_training,
    telling,
)
from reenact.probe.books.metrics import MetricEvaluation, MetricsBook, Reported, Stream
from reenact.types import Place

FEWEST = 2
"""Reports of one metric that must differ, where its numbers have few digits."""


@dataclass(frozen=True, slots=True)
class Report:
    """A number that was reported, and everything that it may be."""

    reported: Reported
    fits: tuple[tuple[Meaning, Stream, float], ...]
    """Meaning, rows it is about, and what the mean over those rows is."""

    @property
    def sound(self) -> tuple[Stream, ...]:
        """The rows of which it is what its name says."""
        return tuple(stream for meaning, stream, _ in self.fits if meaning.sound)


def reported_entries(book: MetricsBook, from_logits: bool) -> Iterator[Entry]:
    """One entry a metric that is reported."""
    groups: dict[tuple[str, Place | None], list[Report]] = defaultdict(list)
    for evaluation in book.evaluations:
        for reported in evaluation.reported:
            if meaning_of(reported.name) and evaluation.streams:
                report = _read(reported, evaluation, from_logits)
                groups[reported.name, reported.place].append(report)
    for (name, place), reports in groups.items():
        yield _entry(name, place, reports)


def _read(reported: Reported, evaluation: MetricEvaluation, from_logits: bool) -> Report:
    measured = meaning_of(reported.name)
    fits = []
    for stream in evaluation.streams:
        if not stream.complete or not stream.rows:
            continue
        found = tuple(meanings(stream, measured, from_logits))
        mean = next((value for meaning, value in found if meaning.sound), 0.0)
        for meaning, value in found:
            if agrees(reported, value, value > 1 and measured == "accuracy"):
                fits.append((meaning, stream, mean))
    return Report(reported, tuple(fits))


def _entry(name: str, place: Place | None, reports: Sequence[Report]) -> Entry:
    count = len(reports)
    sound = [report for report in reports if report.sound]
    if len(sound) >= max(1, count - count // 5):
        elsewhere = _of_training_rows(name, place, reports)
        return elsewhere or balances(
            "reported",
            f"{name} is what its name says in {len(sound)} of {count} reports{_which(sound)}",
        )
    wrong = _shared(reports)
    if wrong is not None:
        return _off(name, place, wrong, [one for one in reports if not one.sound])
    return unseen(
        "reported",
        f"{name} is not one, or several, of the numbers that its rows give ({count} reports)",
    )


def _which(reports: Sequence[Report]) -> str:
    """Which of several figures of one name it is, where all reports agree."""
    if meaning_of(reports[0].reported.name) not in RATIOS:
        return ""
    each = [{meaning.says for meaning, _, _ in one.fits if meaning.sound} for one in reports]
    shared = set.intersection(*each)
    return f": {shared.pop()}" if len(shared) == 1 else ""


def _shared(reports: Sequence[Report]) -> Meaning | None:
    """The one wrong meaning that fits every report, where chance does not explain it."""
    each = [{meaning for meaning, _, _ in report.fits if not meaning.sound} for report in reports]
    # By chance a report may be what its name says as well: the others tell.
    shared = set.intersection(*each)
    values = {one.reported.value for one in reports if not one.sound}
    alone = len(reports) == 1 and telling(reports[0].reported)
    if len(shared) == 1 and (len(values) >= FEWEST or alone):
        return shared.pop()
    return None


def _off(
    name: str,
    place: Place | None,
    wrong: Meaning,
    reports: Sequence[Report],
) -> Entry:
    report = reports[-1]
    mean = next(mean for meaning, _, mean in report.fits if meaning == wrong)
    sentence = f"{name} is {wrong.says}: {report.reported.value:.4g} where its rows give {mean:.4g}"
    if wrong.intended:
        return fact("reported", sentence, place)
    return imbalance(
        "reported",
        sentence,
        fault=wrong.fault,
        why=wrong.why,
        place=place,
        confidence=0.9 if len(reports) > FEWEST else 0.7,
    )


def _of_training_rows(name: str, place: Place | None, reports: Sequence[Report]) -> Entry | None:
    """Where what is called validation is of the loader that feeds the training, and of that alone."""
    streams = [stream for report in reports for stream in report.sound]
    if not judges(name) or of_training(name) or not all(stream.trains for stream in streams):
        return None
    return imbalance(
        "reported-of-training-rows",
        f"{name} is of the rows of the loader that feeds the training, in {len(reports)} reports",
        why="Rows that train do not tell how the model does on others.",
        place=place,
        confidence=0.6,
    )
