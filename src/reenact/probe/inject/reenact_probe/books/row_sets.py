"""Which rows train and which judge: by content, a key for each."""

from __future__ import annotations

import weakref
from collections import Counter

import numpy

from reenact_probe.books.row_columns import Columns, Series
from reenact_probe.books.row_groups import Sample
from reenact_probe.books.row_padding import Padding
from reenact_probe.books.row_sketches import Sketches
from reenact_probe.books.row_steps import Steps, middles
from reenact_probe.books.row_values import is_certain, is_measured, keys_of
from reenact_probe.types import Array, Facts, Module, Place

MOST_KEYS = 200_000
MOST_SETS = 24
MOST_VALUES = 1 << 23
"""Values of a set of which sums are taken."""
FEW_MEASURED = 64
FADES = 0.9
"""What counts of the rows of the step before."""
READ_ROUNDS = 2
"""Rounds of a loader whose batches are read."""


class Twins:
    """How often two rows of one set are equal."""

    def __init__(self) -> None:
        self.pairs = 0.0
        self.equal = 0

    def add(self, rows: int, distinct: int) -> None:
        """A set of so many rows."""
        self.pairs += rows * (rows - 1) / 2
        self.equal += max(0, rows - distinct)

    def facts(self) -> Facts:
        return {"pairs": self.pairs, "equal": self.equal}


class TrainedRows:
    """The rows that trained each model so far: of several folds each has a model of its own."""

    def __init__(self) -> None:
        self.keys: dict[int, set[int]] = {}
        self.numbers: dict[int, tuple[object, int]] = {}
        self.current = -1
        self._recent: dict[int, tuple[float, float]] = {}
        """Rows that trained a model lately, and those of them that were new."""
        self.twins = Twins()

    def number(self, module: Module) -> int:
        """A number for each model; another object may have the identity of one that is gone."""
        known = self.numbers.get(id(module))
        if known is None or known[0]() is not module:  # type: ignore[operator]
            known = self.numbers[id(module)] = (weakref.ref(module), len(self.keys))
            self.keys[known[1]] = set()
        return known[1]

    def add(self, model: int, keys: Array) -> None:
        rows = self.keys.setdefault(model, set())
        if len(rows) < MOST_KEYS:
            rows.update(keys.tolist())

    def train(self, model: int, keys: Array) -> None:
        """Rows of a loss of this model that goes backward."""
        known = self.keys.get(model, set())
        rows, new = self._recent.get(model, (0.0, 0.0))
        fresh = len(set(keys.tolist()) - known)
        self._recent[model] = FADES * rows + len(keys), FADES * new + fresh
        self.add(model, keys)

    def coverage(self, model: int) -> float:
        """About which share of the rows that trained this model are known: where many that come are
        new, as many have passed unseen."""
        rows, new = self._recent.get(model, (0.0, 0.0))
        return 1 - new / rows if rows else 0.0

    def share(self, model: int, keys: set[int]) -> int:
        """How many of these rows trained this model."""
        return len(keys & self.keys.get(model, set()))


_WORD = 2**64 - 1


def identity(parts: list[Array]) -> Array:
    """Keys of rows by their first part where that distinguishes rows, else by all of them."""
    return keys_of(parts[:1] if is_certain(parts[0]) else parts)


class RowSet:
    """Rows that are evaluated together: all that a loader gives in a round, or those of one pass."""

    def __init__(self, labelled: bool) -> None:
        self.labelled = labelled
        self.keys: set[int] = set()
        self.latest: set[int] = set()
        """Of the last part of it."""
        self.rows = 0
        self.shared = 0
        self.times = 0
        self.alone = True
        self.complete = False
        self.certain = False
        self.measured = True
        self.is_table = False
        self.coverage = 0.0
        """Share of the rows that had trained the model by then that are known."""
        self.left = MOST_VALUES
        self.columns = Columns()
        self.series = Series()
        self.padding = Padding()
        self.sketches = Sketches()
        self.sample = Sample()
        self.middles: set[int] = set()
        """Of its rows, where they are windows."""
        self.place: Place | None = None
        self.is_read = False

    def add(self, parts: list[Array], labels: Array | None) -> Array:
        """Read some of its rows; gives their keys."""
        keys = identity(parts)
        self.certain = self.certain or is_certain(parts[0])
        self.is_table = self.is_table or parts[0].ndim > 1
        self.measured = self.measured and is_measured(parts[0])
        self.latest = set(keys.tolist())
        self.keys |= self.latest
        self.rows += len(keys)
        self.left -= parts[0].size
        if self.left > 0:
            self.columns.add(parts[0])
            self.series.add(parts[0], labels)
            self.padding.add(parts)
            self.sketches.add(parts[0], keys)
            self.sample.add(parts[0])
            self.middles |= middles(parts[0])
        return keys

    def judge(self, trained: TrainedRows, model: int) -> None:
        """It is evaluated now: what of it has trained the model that is asked?"""
        self.times += 1
        self.meets(trained, model)

    def meets(self, trained: TrainedRows, model: int) -> None:
        """Count those of its rows that have trained this model."""
        shared = trained.share(model, self.keys)
        if shared >= self.shared:
            self.shared, self.coverage = shared, trained.coverage(model)

    def facts(
        self,
        train: Columns | None,
        steps: Steps,
        trained: Sketches | None,
    ) -> Facts:
        columns, apart = self.columns.apart(train) if train is not None else (0, 0.0)
        best = self.columns.facts()
        for series in self.series.columns():
            other = series.facts()
            if other["columns"] and other["mean_off"] < best["mean_off"]:
                best = other
        return {
            "labelled": self.labelled,
            "rows": self.rows,
            "distinct": len(self.keys),
            "content": f"{sum(self.keys) & _WORD:016x}",
            "shared": self.shared,
            "times": self.times,
            "complete": self.complete and self.left > 0,
            "certain": self.certain,
            "measured": self.measured and self.rows >= FEW_MEASURED,
            "coverage": self.coverage,
            "compared": columns,
            "apart": apart,
            "moved": self.columns.moved(train) if train is not None else 0,
            "windows": len(self.middles),
            "across": steps.met(self.middles),
            "padding": self.padding.facts(),
            "nearly": self.sketches.near(trained) if trained is not None else None,
            "place": self.place,
            **best,
        }


class Sets:
    """Every set that was evaluated, and the columns of what trained."""

    def __init__(self) -> None:
        self.trained = TrainedRows()
        self.by_loader: dict[int, RowSet] = {}
        self.by_content: dict[int, RowSet] = {}
        self.training: set[int] = set()
        """Loaders that training draws from."""
        self.columns: dict[tuple[int, ...], Columns] = {}
        """Of rows that trained, by their form."""
        self.seen: set[int] = set()
        self.steps = Steps()
        self.padding = Padding()
        """Of what models are given that train."""
        self.sketches = Sketches()
        """Of the rows that train."""
        self._asked: Counter[tuple[int, int]] = Counter()

    def trains(
        self,
        model: int,
        parts: list[Array],
        keys: Array,
        loaded: bool,
    ) -> None:
        """Rows went into a loss that is stepped."""
        self.trained.train(model, keys)
        if is_certain(parts[0]):
            self.trained.twins.add(len(keys), len(set(keys.tolist())))
        if len(parts) > 1:
            self.trained.add(model, keys_of(parts[:1]))
        self.trained.current = model
        self.steps.add(parts[0])
        self.padding.add(parts)
        if not self.sketches.full:
            self.sketches.add(parts[0], identity(parts))
        if not loaded:
            self.measure(parts, keys)

    def measure(self, parts: list[Array], keys: Array) -> None:
        """Take rows that are new into the columns of training."""
        fresh = [row for row, key in enumerate(keys.tolist()) if key not in self.seen]
        if fresh and len(self.seen) < MOST_KEYS and len(self.columns) < 8:
            self.seen.update(keys.tolist())
            first = parts[0][fresh]
            self.columns.setdefault(first.shape[1:], Columns()).add(first)

    def evaluated(
        self,
        model: int,
        parts: list[Array],
        step: int,
        place: Place | None,
    ) -> None:
        """Rows were asked about that no loader of an evaluation gave."""
        keys = identity(parts)
        whole = int(numpy.add.reduce(keys, dtype="u8")) ^ len(keys)
        known = self.by_content.get(whole)
        if known is None:
            if len(self.by_content) >= MOST_SETS:
                return
            known = self.by_content[whole] = RowSet(labelled=False)
            known.place = place
            known.add(parts, None)
        known.judge(self.trained, model)
        self._asked[step, parts[0][0].size] += 1
        known.alone = known.alone and self._asked[step, parts[0][0].size] == 1
        known.complete = known.alone

    def facts(self, ends: bool) -> list[Facts]:
        """Of each set that judges, those that are asked most often first; sketches are compared when all
        is over.
        """
        trained = self.sketches if ends else None
        return [one.facts(self._train_of(one), self.steps, trained) for one in self.judging()[:16]]

    def judging(self) -> list[RowSet]:
        """Those that are asked most often first."""
        loaded = [one for index, one in self.by_loader.items() if index not in self.training]
        sets = [one for one in (*loaded, *self.by_content.values()) if one.times]
        return sorted(sets, key=lambda one: -one.times)

    def train_columns(self) -> list[Columns]:
        """Of the loaders that train, then of the rows that passes brought."""
        loaded = [self.by_loader.get(index) for index in sorted(self.training)]
        known = [one.columns for one in loaded if one is not None]
        both = [*known, *self.columns.values()]
        return [columns for columns in both if columns.sums is not None]

    def _train_of(self, one: RowSet) -> Columns | None:
        own = one.columns.sums
        same = (each for each in self.train_columns() if own is not None)
        for each in same:
            if each.sums.shape == own.shape:
                return each
        return None
