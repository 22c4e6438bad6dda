"""What a Keras model does in evaluation mode when other rows stand beside a row, on any backend: it is called
as it is, before its first step, with rows that `fit` was given."""

from __future__ import annotations

from typing import Any

import numpy

from reenact_probe.types import Array, Facts, Function, Library, Module

ROWS = 32


def look(keras: Library, model: Module, x: Any = None, *_: Any, **__: Any) -> Facts:
    """Facts of the model; called with what `fit` is called with."""
    found: Facts = {"model": type(model).__name__}
    arrays = [x] if hasattr(x, "shape") else list(x.values() if isinstance(x, dict) else x or ())
    rows = min((len(array) for array in arrays if getattr(array, "shape", ())), default=0)
    if rows < 3 or not all(hasattr(array, "shape") for array in arrays):
        return dict(found, missing="no rows of it lie in memory")
    rows = min(rows, ROWS)

    def first(array: Any) -> Array:
        return numpy.asarray(array[:rows])

    def alone(array: Any) -> Array:
        # The first row stands in for all others but the last.
        return numpy.concatenate([numpy.repeat(first(array)[:1], rows - 1, 0), first(array)[-1:]])

    base, again, changed = (_scores(keras, model, x, change) for change in (first, first, alone))
    if base is None or len(base) != rows or base.shape[1:2] == (rows,):
        return dict(found, missing="it gives no scores by row")
    found["noise"] = _moved(base[-1], again[-1])
    if not found["noise"]:
        found["mixing"] = _moved(base[-1], changed[-1])
    return found


def _scores(keras: Library, model: Module, x: Any, change: Function) -> Any:
    if isinstance(x, dict):
        given: Any = {name: change(array) for name, array in x.items()}
    else:
        given = change(x) if hasattr(x, "shape") else [change(array) for array in x]
    output = model(given, training=False)
    while isinstance(output, (list, tuple, dict)):
        output = next(iter(output.values() if isinstance(output, dict) else output))
    scores = numpy.asarray(keras.ops.convert_to_numpy(output))
    return scores.astype("float64") if scores.ndim > 1 and scores.dtype.kind == "f" else None


def _moved(before: Array, after: Array) -> float:
    """The largest change as a share of the spread, or of the size where one number has no spread."""
    spread = float(numpy.abs(before - before.mean()).mean()) or float(numpy.abs(before).max())
    share = float(numpy.abs(before - after).max()) / max(spread, 1e-6)
    # What rows of another order cost in rounding.
    return share if share > 1e-4 else 0.0
