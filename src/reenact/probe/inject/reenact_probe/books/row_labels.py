"""What inputs say about their labels: nothing, something, or everything because the label is among them."""

from __future__ import annotations

import numpy

from reenact_probe.books.row_values import flat
from reenact_probe.rows import explained
from reenact_probe.types import Array, Facts

MOST_ROWS = 2048
A_LOOK = 512
MOST_COLUMNS = 1024
MOST_LABELS = 4
FEW_ROWS = 200
LONG = 16
"""Values of a row from which on its own correlation means something."""
EXACT, PAST = 1e-6, 1e-2
"""Share of the spread that is left: of an exact relation, of one that is not."""
REACHES = (1, 2, 3, 4, 5, 6, 7, 10, 12, 15)
MOST_CLASSES = 64


class Labelled:
    """Rows of inputs next to their labels, each once."""

    def __init__(self) -> None:
        self.inputs: list[Array] = []
        self.labels: list[Array] = []
        self.known: set[int] = set()
        self.repeats = 0
        self.asked = 0
        self.more: list[Array] = []
        """What else the model is given for each row, as a few numbers."""
        self.shape: tuple[int, ...] = ()
        self.label_shape: tuple[int, ...] = ()
        self.whole = False

    @property
    def full(self) -> bool:
        return len(self.known) >= MOST_ROWS

    def add(self, parts: list[Array], labels: Array, keys: Array) -> None:
        """Take some rows of a step."""
        inputs = parts[0]
        first = not self.inputs
        if first:
            self.shape = inputs.shape[1:]
            self.label_shape = labels.shape[1:]
            self.whole = labels.dtype.kind in "iub"
        if (inputs.shape[1:], labels.shape[1:]) != (self.shape, self.label_shape):
            return
        if inputs.dtype.kind not in "fiub" or inputs.ndim < 2:
            return
        each = keys[:A_LOOK].tolist()
        fresh = [row for row, key in enumerate(each) if key not in self.known]
        self.asked += len(each)
        self.repeats += len(each) - len(fresh)
        self.known.update(each)
        if not fresh or flat(inputs).shape[1] > MOST_COLUMNS:
            return
        self.inputs.append(inputs[fresh].astype("f8"))
        self.labels.append(flat(labels)[fresh].astype("f8"))
        few = [flat(part)[fresh][:, :4].astype("f8") for part in parts[1:3]]
        more = numpy.concatenate(few, axis=1) if few else numpy.empty((len(fresh), 0))
        self.more.append(more)

    def tables(self) -> tuple[Array, Array] | None:
        """Inputs and labels, row by row; none before any came."""
        if not self.inputs:
            return None
        return flat(numpy.concatenate(self.inputs)), numpy.concatenate(self.labels)

    def facts(self) -> Facts | None:
        """What the labels are to the inputs; none where there are too few rows."""
        if sum(map(len, self.inputs)) < FEW_ROWS:
            return None
        inputs = numpy.concatenate(self.inputs)
        labels = numpy.concatenate(self.labels)
        more = numpy.empty((len(inputs), 0))
        if self._fits():
            more = numpy.concatenate(self.more)
        if not (numpy.isfinite(inputs).all() and numpy.isfinite(labels).all()):
            return None
        with numpy.errstate(all="ignore"):
            return {
                "rows": len(inputs),
                "columns": flat(inputs).shape[1],
                "repeated": self.repeats / max(1, self.asked),
                "whole": self.whole,
                "width": labels.shape[1],
                "explained": self._explained(flat(inputs), labels, more),
                "equal": self._equal(flat(inputs), labels),
                "noise": self._is_noise(labels),
                "cosine": self._cosine(flat(inputs), labels),
                "scale": float(inputs.std() / max(1e-12, labels.std())),
                "later": self._later(inputs, labels),
                "entropy": self._entropy(labels),
            }

    def _fits(self) -> bool:
        return len({part.shape[1] for part in self.more}) == 1

    def _explained(
        self,
        inputs: Array,
        labels: Array,
        more: Array,
    ) -> float | None:
        """The share of the spread of labels that tables of few columns explain."""
        if inputs.shape[1] > 64 or len(inputs) < 2 * FEW_ROWS:
            return None
        table = _standard(numpy.concatenate([inputs, more], axis=1)[:1024])
        answers = labels[:1024]
        is_class = labels.shape[1] == 1 and self.whole
        classes = numpy.unique(answers) if is_class else numpy.empty(0)
        if 2 < len(classes) <= MOST_CLASSES:
            answers = (answers == classes[None, :]).astype("f8")
        vary = answers.std(axis=0) > 1e-12
        answers = answers[:, vary][:, :MOST_CLASSES]
        if not answers.shape[1] or not table.shape[1]:
            return None
        return explained(table, _standard(answers))

    def _equal(self, inputs: Array, labels: Array) -> int | None:
        """A column of the inputs that is the label, but for unit and origin; none for none."""
        few = labels.shape[1] <= MOST_LABELS and labels.shape[1] * 3 <= inputs.shape[1]
        if not few or len(numpy.unique(labels[:, 0])) < 2:
            return None
        table = _standard(inputs)
        answer = _standard(labels)
        fits = abs(table.T @ answer) / len(table)
        best = fits.max(axis=1)
        if float(best.max()) > 1 - EXACT:
            return int(best.argmax())
        return None

    def _is_noise(self, labels: Array) -> bool:
        """Whether labels look as drawn from the unit normal distribution."""
        if self.whole or labels.size < 1000:
            return False
        flattest = float((labels**4).mean())
        near = abs(labels.mean()) < 0.1 and abs(labels.std() - 1) < 0.05
        if not near or not 2.5 < flattest < 3.5:
            return False
        return bool(len(numpy.unique(labels)) > 0.9 * labels.size)

    def _cosine(self, inputs: Array, labels: Array) -> float | None:
        """Of long rows of the form of their inputs: the mean square of the correlation within a row,
        in units of what chance gives."""
        if inputs.shape != labels.shape or inputs.shape[1] < LONG:
            return None
        left = inputs - inputs.mean(axis=1, keepdims=True)
        right = labels - labels.mean(axis=1, keepdims=True)
        sizes = numpy.square(left).sum(axis=1) * numpy.square(right).sum(axis=1)
        squares = numpy.square((left * right).sum(axis=1)) / numpy.maximum(sizes, 1e-30)
        return float(squares.mean() * (inputs.shape[1] - 1))

    def _later(self, inputs: Array, labels: Array) -> list[int] | None:
        """Of windows of several series: one that is an average of values of the series that is
        forecast, later ones among them: which, and how many later ones it holds."""
        if inputs.ndim != 3 or self.whole:
            return None
        if inputs.shape[1] < 5 or not 2 <= inputs.shape[2] <= 12:
            return None
        for source in range(inputs.shape[2]):
            if not _continues(inputs[:, :, source], labels):
                continue
            for other in range(inputs.shape[2]):
                reach = _averaged(inputs[:, :, source], inputs[:, :, other])
                if other != source and reach:
                    return [other, reach]
        return None

    def _entropy(self, labels: Array) -> float | None:
        """Of labels that are classes: the loss of the best constant answer."""
        if labels.shape[1] != 1:
            return None
        values, counts = numpy.unique(labels, return_counts=True)
        if len(values) > MOST_CLASSES or not (values == numpy.floor(values)).all():
            return None
        shares = counts / counts.sum()
        return float(-(shares * numpy.log(shares)).sum())


def _continues(series: Array, labels: Array) -> bool:
    """Whether labels are values of this series."""
    known = set(series.astype("f4").ravel().tolist())
    first = labels[:, 0].astype("f4").tolist()
    return sum(value in known for value in first) > 0.5 * len(first)


def _averaged(source: Array, other: Array) -> int:
    """How many later values of one series another is the average of; 0 where it is not one."""
    rows = len(source)
    steps = source.shape[1]
    at = steps // 2
    for reach in REACHES:
        width = 2 * reach + 1
        if width > steps or rows < 8 * width:
            return 0
        begin = max(0, at - reach)
        around = source[:, begin : at + reach + 1]
        before = source[:, begin : at + 1]
        left, weights = _left(around, other[:, at])
        if left < 1e-5 and abs(weights.sum() - 1) < 1e-2:
            later = weights[before.shape[1] :]
            left_before, _ = _left(before, other[:, at])
            if left_before > PAST:
                return int((abs(later) > 1e-3).sum())
            return 0
    return 0


def _left(columns: Array, answer: Array) -> tuple[float, Array]:
    """The share of the spread that the best linear answer leaves, and its weights."""
    table = numpy.concatenate([columns, numpy.ones((len(columns), 1))], axis=1)
    weights = numpy.linalg.lstsq(table, answer, rcond=None)[0]
    rest = answer - table @ weights
    return float(rest.var() / max(1e-30, answer.var())), weights[:-1]


def _standard(values: Array) -> Array:
    spread = values.std(axis=0)
    vary = spread > 1e-12
    centred = values - values.mean(axis=0)
    scaled: Array = centred[:, vary] / spread[vary]
    return scaled


class ClassOrder:
    """In which order classes come out of a loader that trains, round by round."""

    def __init__(self) -> None:
        self.rounds = 0
        self.sorted = 0
        """Complete rounds, and those that go class by class."""
        self.batches = 0
        self.single = 0
        self.classes = 0
        self.rows = 0
        self.begins()

    def begins(self) -> None:
        self._last: int | None = None
        self._seen: set[int] = set()
        self._changes = 0
        self._batches = 0
        self._single = 0
        self._rows = 0

    def add(self, labels: Array) -> None:
        """The labels of the next batch."""
        if labels.ndim != 1 or labels.dtype.kind not in "iu" or len(self._seen) > MOST_CLASSES:
            return
        self._changes += int(numpy.count_nonzero(labels[1:] != labels[:-1]))
        self._changes += self._last is not None and self._last != int(labels[0])
        self._last = int(labels[-1])
        classes = set(labels.tolist())
        self._seen |= classes
        self._batches += 1
        self._single += len(classes) == 1
        self._rows += len(labels)

    def ends(self) -> None:
        if self._batches < 4 or len(self._seen) < 2:
            return
        self.rounds += 1
        self.sorted += self._changes == len(self._seen) - 1
        self.batches = self._batches
        self.single = self._single
        self.classes = len(self._seen)
        self.rows = self._rows

    def facts(self) -> Facts:
        return {
            "rounds": self.rounds,
            "sorted": self.sorted,
            "batches": self.batches,
            "single": self.single,
            "classes": self.classes,
            "rows": self.rows,
        }
