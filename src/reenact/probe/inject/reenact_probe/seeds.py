"""A given seed takes the place of the program's own global seeds, so that repeats differ.

Overridden: `random.seed`, `numpy.random.seed`, `torch.manual_seed` (and the CUDA ones),
`keras.utils.set_random_seed`, and so whatever is built on them (Lightning's `seed_everything`).
Explicit generators (`torch.Generator`, `numpy.random.default_rng`, `RandomState`, a `random_state=`
argument) keep their seeds: they say how data is split. The first seed the program names becomes the
given one; others keep their distance to it.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

from reenact_probe.guard import guarded
from reenact_probe.late import when_imported
from reenact_probe.types import Library

_LIMIT = 2**32


class Override:
    """Translates the program's seeds."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.first: int | None = None
        self.inside = False

    def translate(self, given: Any) -> int:
        if not hasattr(given, "__index__"):
            return self.seed
        # Integers of numpy count.
        number = given.__index__()
        self.first = number if self.first is None else self.first
        return (self.seed + number - self.first) % _LIMIT

    def replace(self, owner: Any, name: str) -> None:
        """Put a translating function in the place of a seeding one."""
        original = getattr(owner, name, None)
        if original is None:
            return

        @functools.wraps(original)
        def seed(*args: Any, **kwargs: Any) -> Any:
            # Within another seeding call it is translated already; data-loading workers seed
            # themselves.
            if self.inside or sys._getframe(1).f_globals.get("__name__", "").startswith(
                "torch.utils.data"
            ):
                return original(*args, **kwargs)
            named = next(
                (key for key in ("seed", "a") if key in kwargs),
                None,
            )
            if args or named is None:
                args = (
                    self.translate(args[0]) if args else self.seed,
                    *args[1:],
                )
            else:
                kwargs[named] = self.translate(kwargs[named])
            self.inside = True
            try:
                return original(*args, **kwargs)
            finally:
                self.inside = False

        setattr(owner, name, seed)


_SEEDING = {
    "random": ("seed",),
    "numpy.random": ("seed",),
    "torch": ("manual_seed", "cuda.manual_seed", "cuda.manual_seed_all"),
    "keras": ("utils.set_random_seed",),
}
"""By module: its functions that set a global seed; all but those of Keras are seeded at once by
the first.
"""


def install(seed: int | None) -> None:
    """Override from now on; without a seed the program's own are."""
    if seed is not None:
        override = Override(int(seed) % _LIMIT)
        for name in _SEEDING:
            when_imported(name, functools.partial(_override, override, name))


@guarded("seeds")
def _override(override: Override, name: str, module: Library) -> None:
    functions = _SEEDING[name]
    if name != "keras":
        getattr(module, functions[0])(override.seed)
    for path in functions:
        owner, _, function = path.rpartition(".")
        override.replace(
            getattr(module, owner) if owner else module,
            function,
        )
    if name == "torch":
        module.random.manual_seed = module.manual_seed
