"""Facts of the data that `fit` and `evaluate` are given: arrays are read in place, generators left alone."""

from __future__ import annotations

import functools
from typing import Any

import numpy

from reenact_probe.data import Data, Split
from reenact_probe.types import Array, Facts


def read_split(data: Data, name: str, x: Any, y: Any, step: int) -> None:
    """Facts of one split, when its data lies in memory."""
    inputs, labels = _array(x), _array(y)
    if inputs is None:
        return
    split = Split(step)
    for role, array in (("input", inputs), ("label", labels)):
        if array is not None:
            dtype = str(array.dtype).replace("torch.", "")
            split.read(role, functools.partial(_rows, array), len(array), dtype)
    data.add_whole(name, split, news=True)


def read_splits(data: Data, wanted: Facts, step: int) -> None:
    """Facts of the data that `fit` was asked to train on, and to validate on."""
    x, y, held = wanted.get("x"), wanted.get("y"), wanted.get("validation_data")
    share = wanted.get("validation_split")
    if held is None and share and y is not None and _array(x) is not None:
        (x, y), held = _split_off(x, y, share)
    read_split(data, "train", x, y, step)
    if isinstance(held, (tuple, list)) and len(held) >= 2:
        read_split(data, "validation", held[0], held[1], step)


def _array(value: Any) -> Any:
    """The first array in what was given: numpy, torch on the CPU, or a list of them; none for a generator."""
    if isinstance(value, (list, tuple)) and value and hasattr(value[0], "shape"):
        value = value[0]
    if isinstance(value, dict) and value:
        value = next(iter(value.values()))
    if type(value).__module__.startswith("pandas"):
        value = value.to_numpy()
    if isinstance(value, (list, tuple)):
        value = _from_list(value)
    shape = getattr(value, "shape", None)
    usable = shape is not None and len(shape) > 0 and len(value) > 0
    if not usable or str(getattr(value, "dtype", "object")) in ("object", "string") or _on_device(value):
        return None
    return value


def _from_list(value: Any) -> Array | None:
    try:
        array = numpy.asarray(value)
    except (ValueError, TypeError):
        return None
    return array if array.dtype.kind in "fiub" else None


def _on_device(value: Any) -> bool:
    device = getattr(value, "device", None)
    return getattr(device, "type", "cpu") != "cpu"


def _rows(array: Any, chosen: slice) -> Array:
    rows = array[chosen]
    return rows.detach().numpy() if hasattr(rows, "detach") else numpy.asarray(rows)


def _split_off(x: Any, y: Any, share: float) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """What Keras itself does with `validation_split`: the last rows are held out."""
    first = _array(x)
    cut = int(len(first) * (1 - share)) if first is not None else 0
    kept, held = slice(0, cut), slice(cut, None)
    return (_cut(x, kept), _cut(y, kept)), (_cut(x, held), _cut(y, held))


def _cut(value: Any, rows: slice) -> Any:
    if value is None:
        return None
    if isinstance(value, dict):
        return {key: _cut(part, rows) for key, part in value.items()}
    if isinstance(value, (list, tuple)) and value and hasattr(value[0], "shape"):
        return [part[rows] for part in value]
    return value[rows]
