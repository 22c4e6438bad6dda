"""Seeds of older programs: `numpy.random.seed` or `tf.random.set_seed` used to decide the initial weights.

Keras 3 draws the seeds of its initialisers from Python's `random`, and torch has a generator of its own. An
old program that seeds numpy alone expects the same run again; so those two are seeded along with it.
"""

from __future__ import annotations

import functools
import importlib
import random
import sys
from typing import Any

from reenact_probe.types import Function


def seed_everything(seed: Any) -> None:
    """Seed what decides weights and shuffling; numpy itself is left to the program."""
    if not isinstance(seed, int):
        return
    random.seed(seed)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)
    state = importlib.import_module("keras.src.backend.common.global_state")
    generator = importlib.import_module("keras.src.random.seed_generator").GLOBAL_SEED_GENERATOR
    state.set_global_attribute(generator, None)


def install() -> None:
    """Let `numpy.random.seed` seed the others as well, and make up for a call that came before Keras."""
    import numpy

    drawn: Any = numpy.random.get_state()
    early = int(drawn[1][0])
    numpy.random.seed = _wrap_seed(numpy.random.seed)
    random.seed(early)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(early)


def _wrap_seed(original: Function) -> Function:
    @functools.wraps(original)
    def seed(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        value: Any = args[0] if args else kwargs.get("seed")
        if hasattr(value, "__index__"):
            seed_everything(value.__index__())
        return result

    return seed
