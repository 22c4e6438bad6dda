"""A share of the training data: a first look at a training that has few epochs to leave out.

Covered: arrays that Keras's `fit` is given, and `DataLoader`s of torch that shuffle a data set of known
length. Not covered: generators, samplers of the program's own, loops over tensors. Evaluation data stay as
they are. How many were cut is written to a file, so that nobody takes for a part what was the whole.
"""

from __future__ import annotations

import functools
import importlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reenact_probe.types import Array, Kwargs, Library, Module

LEAST = 200
"""Rows below which data stay whole."""
NOTES = "subset.txt"


class Cutter:
    """Chooses the rows, the same in every training, and counts."""

    def __init__(self, share: float, folder: str) -> None:
        self.share = share
        self.notes = os.path.join(folder, NOTES)
        self.inside = 0
        """Depth of calls: `fit` may be called inside `fit`."""

    def rows(self, count: int) -> Array | None:
        """Numbers of rows in their order, or none when they stay whole."""
        if count < LEAST:
            return None
        import numpy as np

        kept = max(LEAST // 2, round(self.share * count))
        with open(self.notes, "a", encoding="ascii") as file:
            file.write(f"{kept} {count}\n")
        return np.sort(np.random.RandomState(count % 2**32).permutation(count)[:kept])


def install(share: float, folder: str) -> None:
    """`share` of the training data; `folder` holds the notes."""
    from reenact_probe import late

    cutter = Cutter(share, folder)
    late.when_imported("keras", lambda keras: _wrap_fit(keras.Model, cutter))
    late.when_imported("torch", lambda _: _wrap_loader(importlib.import_module("torch.utils.data"), cutter))


def _wrap_fit(model: Module, cutter: Cutter) -> None:
    fit = model.fit

    @functools.wraps(fit)
    def cut(self: Any, x: Any = None, y: Any = None, *args: Any, **named: Any) -> Any:
        if not cutter.inside:
            x, y, named = _cut(x, y, dict(named), cutter)
        cutter.inside += 1
        try:
            return fit(self, x, y, *args, **named)
        finally:
            cutter.inside -= 1

    model.fit = cut


def _cut(x: Any, y: Any, named: Kwargs, cutter: Cutter) -> tuple[Any, Any, Kwargs]:
    weights = named.get("sample_weight")
    arrays = [one for one in (x, y, weights) if one is not None]
    if x is None or not all(map(_is_array, arrays)) or len({len(one) for one in arrays}) != 1:
        return x, y, named
    share = named.get("validation_split") or 0.0
    held = {}
    if share and weights is None and y is not None and named.get("validation_data") is None:
        # The border that Keras draws: the last rows are held out, and stay whole.
        border = int(len(x) * (1.0 - share))
        held = {"validation_split": 0.0, "validation_data": (x[border:], y[border:])}
        x, y = x[:border], y[:border]
    elif share:
        return x, y, named
    rows = cutter.rows(len(x))
    if rows is None:
        return x, y, named | held
    named |= held | ({} if weights is None else {"sample_weight": weights[rows]})
    return x[rows], None if y is None else y[rows], named


def _is_array(value: Any) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype") and len(value.shape) > 0


def _wrap_loader(data: Library, cutter: Cutter) -> None:
    begin = data.DataLoader.__init__

    class Few(data.Subset):
        """Some rows of a data set; whatever else is asked of it is asked of the data set."""

        def __getattr__(self, name: Any) -> Any:
            if name in ("dataset", "indices"):
                raise AttributeError(name)
            return getattr(self.dataset, name)

    @functools.wraps(begin)
    def cut(
        self: Any, dataset: Any, batch_size: Any = 1, shuffle: Any = None, *args: Any, **named: Any
    ) -> None:
        if shuffle and not cutter.inside and hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__"):
            rows = cutter.rows(len(dataset))
            dataset = dataset if rows is None else Few(dataset, rows.tolist())
        begin(self, dataset, batch_size, shuffle, *args, **named)

    data.DataLoader.__init__ = cut
