"""Continue a training: before the first `fit` of Keras take weights from a file, after it leave them in one.

Weights are matched in order, by shape: layers that a change has put in keep their own beginning.
"""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reenact_probe.types import Array, Module


def install(start: str, end: str) -> None:
    """`start`: file to take weights from, or empty; `end`: file to leave them in, or empty."""
    from reenact_probe import late

    late.when_imported("keras", lambda keras: _wrap(keras.Model, start, end))


def _wrap(model: Module, start: str, end: str) -> None:
    fit = model.fit
    waiting = [start] if start and os.path.isfile(start) else []

    @functools.wraps(fit)
    def continued(self: Any, x: Any = None, *args: Any, **named: Any) -> Any:
        if waiting:
            if not self.built and x is not None:
                self(x[:1])
            _load(self, waiting.pop())
        history = fit(self, x, *args, **named)
        if end:
            _save(self, end)
        return history

    model.fit = continued


def _load(model: Module, file: str) -> None:
    import numpy as np

    with np.load(file, allow_pickle=False) as kept:
        known = [kept[name] for name in sorted(kept.files)]
    for weight in model.trainable_variables:
        fitting = next((at for at, value in enumerate(known) if value.shape == tuple(weight.shape)), None)
        if fitting is not None:
            weight.assign(known[fitting])
            known = known[fitting + 1 :]


def _save(model: Module, file: str) -> None:
    import numpy as np

    values: dict[str, Any] = {f"w{number:05}": np.asarray(one) for number, one in enumerate(_arrays(model))}
    beside = f"{file}.{os.getpid()}.npz"
    np.savez(beside, **values)
    os.replace(beside, file)


def _arrays(model: Module) -> list[Array]:
    from keras import ops

    return [ops.convert_to_numpy(one) for one in model.trainable_variables]
