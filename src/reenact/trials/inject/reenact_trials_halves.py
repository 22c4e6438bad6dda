"""One half of the evaluation data: changes are searched on the first and judged on the other.

Covered: arrays that Keras is given in `evaluate` and, in `fit`, as `validation_data` or by
`validation_split`. Not covered: data sets and generators, and evaluations that a program writes itself. How
many evaluations were halved is written to a file, so that nobody takes for held out what was not.
"""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reenact_probe.types import Array, Function, Kwargs, Module

LEAST = 60
"""Rows below which a half says too little: such data stay whole."""
NOTES = "halves.txt"


class Halver:
    """Takes the rows of one half out of arrays, and counts how often."""

    def __init__(self, second: bool, folder: str) -> None:
        self.second = second
        self.notes = os.path.join(folder, NOTES)
        self.inside = 0
        """Depth of calls: Keras calls `evaluate` inside `fit`."""

    def rows(self, count: int) -> Array:
        """The same rows in every training; drawn apart from the program's own chance."""
        import numpy as np

        order = np.random.RandomState(count % 2**32).permutation(count)
        return np.sort(order[count // 2 :] if self.second else order[: count // 2])

    def half(self, arrays: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The same rows of each array, or none when they are no arrays of one length."""
        lengths = {len(one) for one in arrays if one is not None and _is_array(one)}
        if len(lengths) != 1 or not all(one is None or _is_array(one) for one in arrays):
            return None
        count = lengths.pop()
        if count < LEAST:
            return None
        with open(self.notes, "a", encoding="ascii") as file:
            file.write(f"{count}\n")
        rows = self.rows(count)
        return tuple(one if one is None else one[rows] for one in arrays)


def _is_array(value: Any) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype") and len(value.shape) > 0


def install(part: str, folder: str) -> None:
    """`part` is search or judge; `folder` holds the notes."""
    from reenact_probe import late

    halver = Halver(part == "judge", folder)
    late.when_imported("keras", lambda keras: _wrap(keras.Model, halver))


def _wrap(model: Module, halver: Halver) -> None:
    # On the class that programs derive from: what the probe has put there is called by us.
    model.fit = _fit(model.fit, halver)
    model.evaluate = _evaluate(model.evaluate, halver)


def _evaluate(evaluate: Function, halver: Halver) -> Function:
    @functools.wraps(evaluate)
    def halved(self: Any, x: Any = None, y: Any = None, *args: Any, **named: Any) -> Any:
        if not halver.inside:
            weights = named.get("sample_weight")
            taken = halver.half((x, y, weights))
            if taken is not None and x is not None:
                x, y, weights = taken
                named |= {} if weights is None else {"sample_weight": weights}
        halver.inside += 1
        try:
            return evaluate(self, x, y, *args, **named)
        finally:
            halver.inside -= 1

    return halved


def _fit(fit: Function, halver: Halver) -> Function:
    @functools.wraps(fit)
    def halved(self: Any, x: Any = None, y: Any = None, *args: Any, **named: Any) -> Any:
        if not halver.inside:
            x, y, named = _validation(x, y, dict(named), halver)
        halver.inside += 1
        try:
            return fit(self, x, y, *args, **named)
        finally:
            halver.inside -= 1

    return halved


def _validation(x: Any, y: Any, named: Kwargs, halver: Halver) -> tuple[Any, Any, Kwargs]:
    given = named.get("validation_data")
    if isinstance(given, (tuple, list)) and len(given) in (2, 3):
        taken = halver.half(tuple(given))
        return x, y, named | ({} if taken is None else {"validation_data": taken})
    share = named.get("validation_split") or 0.0
    if not share or named.get("sample_weight") is not None or not (_is_array(x) and _is_array(y)):
        return x, y, named
    # The border that Keras draws: the last rows are held out.
    border = int(len(x) * (1.0 - share))
    taken = halver.half((x[border:], y[border:]))
    if taken is None or not border:
        return x, y, named
    return x[:border], y[:border], named | {"validation_split": 0.0, "validation_data": taken}
