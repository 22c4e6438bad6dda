"""What a reported number may be: every recomputation from the rows of one evaluation, with its meaning."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from reenact.probe.books.metrics import BatchMeasure, Reported, Stream

ACCURACY = "accuracy"
ERROR = "error"
LOSS = "loss"
MSE = "mse"
RMSE = "rmse"
MAE = "mae"
F1 = "f1"
PRECISION = "precision"
RECALL = "recall"
PERPLEXITY = "perplexity"
R2 = "r2"
RATIOS = (F1, PRECISION, RECALL, PERPLEXITY, R2)
_WORDS = {
    "f1": F1,
    "precision": PRECISION,
    "recall": RECALL,
    "perplexity": PERPLEXITY,
    "ppl": PERPLEXITY,
    "r2": R2,
    "acc": ACCURACY,
    "accuracy": ACCURACY,
    "error": ERROR,
    "loss": LOSS,
    "mse": MSE,
    "rmse": RMSE,
    "mae": MAE,
}
_SQUARES = frozenset({"sq", "square", "squared"})
_JUDGES = frozenset({"val", "valid", "validation", "test", "eval", "dev"})
_TRAINS = frozenset({"train", "training"})
_ACCURACIES = ("accuracy", "accuracy-above-0", "accuracy-above-0.5")
_LOSSES = ("cross-entropy", "nll", "bce-of-logits", "bce", "mse", "mae")
_PRINTED = 0.51
"""Of the last digit that was printed."""
_COMPUTED = 2e-4
"""Of a value that was computed in another order, or in half precision."""
_WHOLE_SHARE = 1 - 1e-9


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a number may be."""

    says: str
    """As in "is ...": `the share of right answers over all rows`."""
    sound: bool = True
    """It is what its name says."""
    fault: str = ""
    why: str = ""
    intended: bool = False
    """It may be meant so."""


OVER_ROWS = Meaning("the mean over all rows")
OVER_BATCHES = Meaning("the mean over batches")
LAST = Meaning(
    "that of the last batch alone",
    sound=False,
    fault="wrong-metric",
    why="The rows of the other batches do not count.",
)
LAST_LOSS = Meaning(
    "that of the last batch alone",
    sound=False,
    why="A loss of the last batch alone says nothing about the other batches: sum it over batches.",
)
PER_BATCH = Meaning(
    "the sum over rows divided by the number of batches",
    sound=False,
    fault="wrong-metric",
)
PER_ROW = Meaning(
    "the sum of the means of the batches divided by the number of rows",
    sound=False,
    fault="wrong-metric",
)
PER_FULL_BATCH = Meaning(
    "the mean over batches, each divided by the size of a full one",
    sound=False,
    fault="wrong-metric",
)
LOSS_PER_ROW = Meaning(
    "the sum of the means of the batches divided by the number of rows",
    sound=False,
    why="Each batch gave a mean already: divide their sum by the number of batches.",
)
SUMMED = Meaning("a sum over batches, not a mean", sound=False, intended=True)
BALANCED = Meaning("the mean of the recalls of the classes", sound=False, intended=True)
INVERTED = Meaning(
    "the share of wrong answers",
    sound=False,
    why="What is called accuracy falls as the model gets better.",
)
NOT_WRONG = Meaning(
    "the share of right answers",
    sound=False,
    why="What is called an error rises as the model gets better.",
)
ROOT = Meaning("the root of the mean squared error", sound=False, why="It is not a squared error.")
NO_ROOT = Meaning("the mean squared error", sound=False, why="No root was taken.")
ABSOLUTE = Meaning("the mean absolute error", sound=False, why="No error was squared.")
SQUARED = Meaning("the mean squared error", sound=False, why="Errors were squared.")
HALF_OF_LOGITS = Meaning(
    "the share of right answers with logits cut at 0.5",
    sound=False,
    why="A logit of 0 is a probability of one half: cut logits at 0, or apply a sigmoid first.",
)
ZERO_OF_SHARES = Meaning(
    "the share of right answers with probabilities cut at 0",
    sound=False,
    why="Every probability is above 0, so every answer is yes.",
)


def meaning_of(name: str) -> str:
    """What a metric of this name measures; empty where it is not one of those known here."""
    words = [word for word in re.split(r"[^a-z0-9]+", name.lower()) if word]
    found = {_WORDS[word] for word in words if word in _WORDS}
    if found == {RMSE} and not _SQUARES.isdisjoint(words):
        return MSE
    return found.pop() if len(found) == 1 else ""


def judges(name: str) -> bool:
    """Whether a metric of this name is of rows that judge."""
    words = set(re.split(r"[^a-z0-9]+", name.lower()))
    return bool(words & _JUDGES) and not words & _TRAINS


def of_training(name: str) -> bool:
    """Whether a metric of this name is of rows that train."""
    return bool(set(re.split(r"[^a-z0-9]+", name.lower())) & _TRAINS)


def agrees(reported: Reported, value: float, whole: bool) -> bool:
    """Whether a reported number is this value; a `whole` share may be printed in percent."""
    shown = reported.value
    if shown is None or not math.isfinite(value):
        return False
    scales = (1.0, 100.0) if whole else (1.0,)
    return any(
        abs(shown * scale - value) <= scale * _tolerance(shown, value / scale) for scale in scales
    )


def _tolerance(shown: float, value: float) -> float:
    """Half of its last printed digit, where it was printed with few."""
    digits = repr(round(shown, 10)).partition(".")[2]
    exact = _COMPUTED * max(abs(shown), abs(value))
    scientific = "e" in digits
    if scientific:
        return exact
    return max(exact, _PRINTED * 10.0 ** -len(digits))


def telling(reported: Reported) -> bool:
    """Whether a number has enough digits to be known by itself."""
    shown = reported.value
    return shown is not None and len(repr(round(shown, 10)).strip("-0.").replace(".", "")) >= 4


def meanings(stream: Stream, measured: str, from_logits: bool) -> Iterator[tuple[Meaning, float]]:
    """Every recomputation of what is measured, with its value."""
    if measured in (ACCURACY, ERROR):
        yield from _shares(stream, measured, from_logits)
    elif measured in RATIOS:
        yield from _ratios(stream, measured)
    elif measured == LOSS:
        for name in _LOSSES:
            measure = stream.measure(name)
            if measure is not None:
                yield from _losses(stream, measure)
    else:
        yield from _errors(stream, measured)


def _ratios(stream: Stream, measured: str) -> Iterator[tuple[Meaning, float]]:
    """Figures that are not a mean over rows: their mean over batches is another number."""
    other = {PRECISION: RECALL, RECALL: PRECISION}.get(measured, "")
    for ratio in stream.ratios:
        kind = re.split(r"[ ,]", ratio.name)[0]
        if kind == measured:
            yield Meaning(ratio.name), ratio.whole
            if stream.batches > 1 and ratio.by_batch is not None:
                yield _over_batches(ratio.name), ratio.by_batch
        elif kind == other:
            yield _swapped(measured, ratio.name), ratio.whole


def _over_batches(name: str) -> Meaning:
    return Meaning(f"the mean over batches of {name}", sound=False, intended=True)


def _swapped(measured: str, name: str) -> Meaning:
    return Meaning(
        f"the {name}",
        sound=False,
        fault="wrong-metric",
        why=f"What is called {measured} is another figure: answers and labels may be given in each other's"
        " place.",
    )


def _shares(stream: Stream, measured: str, from_logits: bool) -> Iterator[tuple[Meaning, float]]:
    for name in _ACCURACIES:
        measure = stream.measure(name)
        if measure is not None:
            off = _cut(stream, name, from_logits)
            yield from _of_accuracy(stream, measure, measured, off)
    if measured == ACCURACY and len(stream.recalls) > 1:
        yield BALANCED, sum(stream.recalls) / len(stream.recalls)
        for number, recall in enumerate(stream.recalls):
            yield _recall(number, len(stream.recalls)), recall


def _recall(number: int, classes: int) -> Meaning:
    return Meaning(
        f"the recall of one class of {classes}, number {number} of those that occur",
        sound=False,
        why="Rows of the other classes do not count.",
    )


def _cut(stream: Stream, name: str, from_logits: bool) -> Meaning | None:
    """What is wrong with where yes begins; none for nothing."""
    inside = stream.measure("inside")
    shares = inside is not None and inside.total >= _WHOLE_SHARE * stream.rows
    if name == "accuracy-above-0" and shares:
        return ZERO_OF_SHARES
    if name == "accuracy-above-0.5" and not shares and from_logits:
        return HALF_OF_LOGITS
    return None


def _of_accuracy(
    stream: Stream,
    measure: BatchMeasure,
    measured: str,
    off: Meaning | None,
) -> Iterator[tuple[Meaning, float]]:
    share = measure.total / stream.rows
    by_batch = measure.shares / stream.batches
    if measured == ERROR:
        yield OVER_ROWS, 1 - share
        yield OVER_BATCHES, 1 - by_batch
        yield NOT_WRONG, share
        return
    yield off or OVER_ROWS, share
    yield off or OVER_BATCHES, by_batch
    if off is not None:
        return
    yield INVERTED, 1 - share
    if stream.batches > 1:
        yield LAST, measure.last
        yield PER_BATCH, measure.total / stream.batches
        yield PER_ROW, measure.shares / stream.rows
        yield PER_FULL_BATCH, measure.total / (stream.batches * stream.largest)


def _losses(stream: Stream, measure: BatchMeasure) -> Iterator[tuple[Meaning, float]]:
    yield OVER_ROWS, measure.total / stream.rows
    yield OVER_BATCHES, measure.shares / stream.batches
    if stream.batches > 1:
        yield LAST_LOSS, measure.last
        yield SUMMED, measure.shares
        yield SUMMED, measure.total
        yield SUMMED, measure.total / stream.batches
        yield LOSS_PER_ROW, measure.shares / stream.rows


def _errors(stream: Stream, measured: str) -> Iterator[tuple[Meaning, float]]:
    squared = stream.measure("mse")
    absolute = stream.measure("mae")
    if squared is None or absolute is None:
        return
    mean, by_batch = squared.total / stream.rows, squared.shares / stream.batches
    away = (absolute.total / stream.rows, absolute.shares / stream.batches)
    sound = {MSE: (mean, by_batch), RMSE: (mean**0.5, by_batch**0.5), MAE: away}
    yield OVER_ROWS, sound[measured][0]
    yield OVER_BATCHES, sound[measured][1]
    if measured == MSE:
        yield ROOT, mean**0.5
        yield ABSOLUTE, away[0]
    elif measured == RMSE:
        yield NO_ROOT, mean
        yield ABSOLUTE, away[0]
    else:
        yield SQUARED, mean
        yield ROOT, mean**0.5
    if stream.batches > 1:
        last = squared.last if measured != MAE else absolute.last
        yield LAST_LOSS, last**0.5 if measured == RMSE else last
