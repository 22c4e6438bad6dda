"""Which steps are looked at closely, and how closely.

Every preset but `bare` promises a minimum: each of the first steps, then one in `stride`. What is
left open is the detail: when the measured price of a look is too large a share of the training
time, fewer numbers are taken from each tensor. Gradients of layer outputs, and then the layers
themselves, are given up only in a run whose looks have cost more than `CHEAP` seconds in all: a
step of a tiny model can never pay for a look, and yet looking costs no one anything. What is given
up is named in the trace.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

FULL = 2
NO_OUTPUT_GRADIENTS = 1
NORMS = 0
_WHY = "not recorded from step {} on, to keep the overhead low"
LOWERED = {
    NO_OUTPUT_GRADIENTS: f"gradients of layer outputs {_WHY}",
    NORMS: f"layer outputs and gradient statistics {_WHY}",
}
"""What the trace says is missing, by the detail that was left."""
NEVER = float("inf")


class Preset(NamedTuple):
    """A price class."""

    first: int
    """Every one of the first steps is sampled."""
    stride: int | None
    """After them one step in this many; none for no further one."""
    cap: int
    """Numbers taken from each tensor, at most; 0 for a preset that only notes the model and the
    data.
    """
    share: float | None
    """Share of the training time the probe may take; none for no bound."""


PRESETS = {
    "bare": Preset(20, None, 0, None),
    "quick": Preset(20, 50, 4096, 0.03),
    "normal": Preset(50, 10, 16384, 0.10),
    "deep": Preset(100, 1, 1 << 20, None),
}


class Schedule:
    """Decides per step, and turns the detail down when looking costs too much."""

    CALIBRATION = 4
    """Looks before the price is judged: the first ones pay for warming up."""
    FLOOR = 256
    CHEAP = 1.5
    """Seconds that all looks of a run may take before detail is given up."""
    EPOCH_ENDS = 0.5
    """Seconds that all looks may take before the ends of epochs lose theirs."""

    def __init__(
        self,
        preset: str,
        on_lower: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.preset = PRESETS[preset]
        self.cap = self.preset.cap
        self.detail = FULL
        self._on_lower = on_lower
        self._looks = 0
        self._spent = 0.0
        self._price = 0.0
        self._plain = 0.0
        self._last = -1
        self._asked: float = NEVER

    @property
    def bare(self) -> bool:
        """The first steps are looked at for the model and the data only; no statistics are
        taken of them.
        """
        return not self.preset.cap

    def next(self, step: int) -> float:
        """The first step from `step` on, counted from 0, that is sampled."""
        first = self.preset.first
        stride = self.preset.stride
        if step < first:
            return step
        if stride is None:
            return NEVER
        regular = first if self._last < first else self._last + stride
        return max(step, min(regular, self._asked) if self._asked >= step else regular)

    def epoch_ends(self, step: int) -> bool:
        """Ask for a step that ends an epoch. Whether it will be looked at: not in a run where looks
        cost.

        The regular looks are counted on from it, so that long epochs bring no more of them.
        """
        if self.preset.stride is None or self._spent > self.EPOCH_ENDS:
            return False
        self._asked = step
        return True

    def looked(self, step: int) -> None:
        """Tell which step was looked at."""
        self._last = step

    def paid(self, price: float, step_time: float) -> None:
        """Tell what the last look cost, next to the time the step itself took."""
        self._looks += 1
        self._spent += price
        stride = self.preset.stride
        most = self.preset.share
        if self._looks <= self.CALIBRATION or most is None or stride is None:
            return
        self._price = _smooth(self._price, price)
        self._plain = _smooth(self._plain, max(step_time, 1e-9))
        if self._looks % self.CALIBRATION or self._price / self._plain / stride <= most:
            return
        if self.cap > self.FLOOR:
            self.cap = max(self.FLOOR, self.cap // 4)
        elif self.detail > NORMS and self._spent > self.CHEAP:
            self.detail -= 1
            self._on_lower(LOWERED[self.detail].format(self._last + 1))


def _smooth(old: float, new: float) -> float:
    return new if old == 0.0 else 0.7 * old + 0.3 * new
