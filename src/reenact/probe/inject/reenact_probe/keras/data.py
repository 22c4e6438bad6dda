"""What `fit` and `evaluate` are given: arrays are read in place, generators are left alone."""

from __future__ import annotations

from typing import Any

import numpy

from reenact_probe.data import MAX_KEYS, Data, Split, row_keys
from reenact_probe.types import Array

_ROWS = 2000
_LABELS = 100_000


def read(data: Data, name: str, x: Any, y: Any, step: int) -> None:
    """Facts of one split, when its data lies in memory."""
    inputs, labels = _array(x), _array(y)
    if inputs is None:
        return
    split = Split(step)
    few = inputs[:: max(1, len(inputs) // _ROWS)]
    split.update("input", _values(few), str(inputs.dtype).replace("torch.", ""))
    split.keys = set(row_keys(_values(inputs[:MAX_KEYS])))
    if labels is not None:
        split.update("label", _values(labels[:_LABELS]), str(labels.dtype).replace("torch.", ""))
    data.add_whole(name, split, news=True)


def _array(value: Any) -> Any:
    """The first array in what was given: numpy, torch on the CPU, or a list of them."""
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


def _values(value: Any) -> Array:
    return value.detach().numpy() if hasattr(value, "detach") else numpy.asarray(value)


def in_memory(x: Any) -> bool:
    """Whether rows of it can be read without drawing from a generator."""
    return _array(x) is not None


def split_off(x: Any, y: Any, share: float) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """What Keras itself does with `validation_split`: the last rows are held out."""
    first = _array(x)
    cut = int(len(first) * (1 - share)) if first is not None else 0
    return (_cut(x, slice(0, cut)), _cut(y, slice(0, cut))), (
        _cut(x, slice(cut, None)),
        _cut(y, slice(cut, None)),
    )


def _cut(value: Any, rows: slice) -> Any:
    if value is None:
        return None
    if isinstance(value, dict):
        return {key: _cut(part, rows) for key, part in value.items()}
    if isinstance(value, (list, tuple)) and value and hasattr(value[0], "shape"):
        return [part[rows] for part in value]
    return value[rows]
