"""Which rows of a data set its loaders draw from, by their index: rows that are changed at random each
time they are read have no content to be known by.
"""

from __future__ import annotations

import weakref
from itertools import count
from typing import Any

import numpy

from reenact_probe.types import Array, Facts, Library

MOST_LOADERS = 24
MOST_ROWS = 1 << 22
SAMPLED = 16
"""Rows by whose parts two data sets are known to be of the same things."""
DEEPEST = 8


class Indices:
    """The rows of each loader."""

    def __init__(self, torch: Library) -> None:
        self.torch = torch
        self._rows: dict[int, tuple[Any, Array]] = {}
        """By loader: what its rows are numbers of, and these numbers."""
        self._serials: dict[int, tuple[Any, int]] = {}
        """By identity of a data set: itself, held weakly, and a number."""
        self._clock = count()
        self._trained: dict[tuple[int, int], int] = {}
        """By loader and model: when the first rows of one trained the other."""
        self._judged: dict[tuple[int, int], int] = {}
        """When the last rows of a loader were asked of a model."""

    def add(self, loader: int, dataset: Any) -> None:
        """A loader begins that was not known."""
        if loader in self._rows or len(self._rows) >= MOST_LOADERS:
            return
        known = self._indices(dataset)
        if known is not None:
            self._rows[loader] = known

    def _indices(self, dataset: Any) -> tuple[Any, Array] | None:
        """The data set behind subsets, and which of its rows are meant."""
        data = self.torch.utils.data
        chosen: Array = None
        for _ in range(DEEPEST):
            if type(dataset) is not data.Subset:
                break
            inner = numpy.asarray(dataset.indices)
            if inner.ndim != 1 or inner.dtype.kind not in "iu" or len(inner) > MOST_ROWS:
                return None
            chosen = inner if chosen is None else inner[chosen]
            dataset = dataset.dataset
        size = _rows(dataset) if not isinstance(dataset, data.IterableDataset) else 0
        if not 0 < size <= MOST_ROWS:
            return None
        if chosen is None:
            chosen = numpy.arange(size)
        return self._identity(dataset, size), numpy.unique(chosen % size)

    def _identity(self, dataset: Any, size: int) -> Any:
        """Equal for data sets of the same things in the same order: lists of them are held as a part."""
        places = numpy.linspace(0, size - 1, min(size, SAMPLED)).astype(int).tolist()
        parts = []
        for name, value in sorted(getattr(dataset, "__dict__", {}).items()):
            if _length(value) == size:
                few = [_plain(self.torch, value[place]) for place in places]
                parts += [(name, repr(few))] if None not in few else []
        return (type(dataset).__qualname__, size, *parts) if parts else self._serial(dataset)

    def _serial(self, dataset: Any) -> int:
        """Another data set may have the identity of one that is gone."""
        held = self._serials.get(id(dataset))
        if held is None or held[0]() is not dataset:
            held = self._serials[id(dataset)] = (_held(dataset), next(self._clock))
        return held[1]

    def trains(self, loader: int, model: int) -> None:
        """Rows of a loader went into a loss of a model."""
        self._trained.setdefault((loader, model), next(self._clock))

    def judges(self, loader: int, model: int) -> None:
        """A model was asked, without gradients, about rows of a loader."""
        self._judged[loader, model] = next(self._clock)

    def facts(self, training: set[int]) -> list[Facts]:
        """Of each loader that does not train: its rows, and how many of them had trained the model that
        was asked about them.
        """
        found = []
        for (loader, model), asked in self._judged.items():
            if loader in training or loader not in self._rows:
                continue
            key, rows = self._rows[loader]
            trained = [
                self._rows[other][1]
                for (other, learner), began in self._trained.items()
                if learner == model and began < asked and other in self._rows
                if self._rows[other][0] == key
            ]
            if trained:
                both = numpy.unique(numpy.concatenate(trained))
                shared = numpy.intersect1d(rows, both, assume_unique=True)
                found.append(
                    {
                        "loader": loader,
                        "rows": len(rows),
                        "shared": len(shared),
                        "trained": len(both),
                    }
                )
        return found


def _held(dataset: Any) -> Any:
    """A data set held weakly, where that can be."""
    try:
        return weakref.ref(dataset)
    except TypeError:
        return lambda: dataset


def _rows(dataset: Any) -> int:
    """How many rows a data set has; 0 where it does not tell."""
    try:
        return len(dataset)
    except Exception:  # noqa: BLE001 - the program's own `__len__`, whatever it raises
        return 0


def _length(value: Any) -> int:
    kinds = (list, tuple, numpy.ndarray)
    is_tensor = hasattr(value, "is_cpu") and value.is_cpu and value.dim()
    return len(value) if isinstance(value, kinds) or is_tensor else -1


def _plain(torch: Library, value: Any) -> Any:
    """A part of a row as something that can be compared; none for what cannot."""
    if isinstance(value, torch.Tensor):
        return value.detach().double().sum().item() if value.numel() else 0
    if isinstance(value, numpy.ndarray):
        return float(value.astype("f8").sum()) if value.dtype.kind in "fiub" else None
    if isinstance(value, (tuple, list)):
        parts = [_plain(torch, one) for one in value[:4]]
        return None if None in parts else tuple(parts)
    if isinstance(value, (str, int, float, numpy.number)):
        return str(value)
    return None
