"""One mini-batch of the project: what is in it, as shapes, types and ranges."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

from .report import Report, seed_all

MOST_LEAVES = 40
MOST_VALUES = 20_000
"""Of a large array every so-manieth value is looked at."""


def sampled(report: Report) -> Any:
    """A mini-batch of the project, described; none when there is none."""
    batch, told, again = None, list[tuple[str, bool]](), list[tuple[str, bool]]()
    with report.doing("calling data.sample_batch(0)"):
        data = importlib.import_module("data")
        report.stand_in = str(getattr(data, "STAND_IN", "") or "")[:500]
        seed_all(0)
        batch = data.sample_batch(0)
        seed_all(1)
        told, again = _described(batch), _described(data.sample_batch(0))
    if report.problems:
        return None
    if report.stand_in:
        report.facts.append(f"The data are a synthetic stand-in: {report.stand_in}")
    if not told:
        report.problem("sample_batch(0) gives nothing: no array, tensor or number is in it.", "data.py")
    report.facts += [words for words, _ in told]
    for words, sound in told:
        if not sound:
            report.problem(f"The mini-batch is not usable: {words}.", "data.py")
    if told != again:
        report.problem(
            "sample_batch(0) gives another batch when called again; only its seed may decide.", "data.py"
        )
    return batch


def _described(batch: Any) -> list[tuple[str, bool]]:
    return [_describe(name, leaf) for name, leaf in islice(_walk(batch, "batch"), MOST_LEAVES)]


def _walk(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Arrays, tensors, numbers and texts of a nest, each with its way."""
    if isinstance(value, dict):
        parts = [(f"{name}[{key!r}]", part) for key, part in value.items()]
    elif hasattr(value, "_fields"):
        parts = [(f"{name}.{key}", getattr(value, key)) for key in value._fields]
    elif hasattr(value, "__dataclass_fields__"):
        parts = [(f"{name}.{key}", getattr(value, key)) for key in value.__dataclass_fields__]
    elif isinstance(value, list | tuple) and not (value and isinstance(value[0], int | float | str)):
        parts = [(f"{name}[{number}]", part) for number, part in enumerate(value)]
    else:
        parts = []
        if value is not None:
            yield name, value
    for inner, part in parts:
        yield from _walk(part, inner)


def _describe(name: str, leaf: Any) -> tuple[str, bool]:
    """Shape, type and range of one leaf, and whether all of it is finite."""
    if hasattr(leaf, "detach"):
        leaf = leaf.detach().cpu()
    if hasattr(leaf, "dtype") and hasattr(leaf, "shape"):
        kind, shape = str(leaf.dtype), tuple(leaf.shape)
        flat = leaf.flatten()
        values = flat[:: max(1, len(flat) // MOST_VALUES)].tolist()
    elif isinstance(leaf, list | tuple):
        kind, shape, values = type(leaf[0]).__name__, (len(leaf),), list(leaf)
    else:
        kind, shape, values = type(leaf).__name__, (), [leaf]
    numbers = [float(one) for one in values if isinstance(one, int | float)]
    words = f"{name}: {kind} of shape {shape}"
    if not numbers:
        return words, bool(values)
    finite = [one for one in numbers if math.isfinite(one)]
    if len(finite) < len(numbers):
        return f"{words}, {len(numbers) - len(finite)} of {len(numbers)} values are not finite", False
    words += f", from {min(finite):.3g} to {max(finite):.3g}"
    if "float" not in kind and all(one == int(one) for one in finite):
        words += f", {len(set(finite))} different values"
    return words, True
