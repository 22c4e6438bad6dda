"""Which steps are looked at closely, and how closely.

Every preset promises a minimum: each of the first steps, then one in `stride`. What is left open is the
detail: when the measured price of a look is too large a share of the training time, fewer numbers are taken
from each tensor; when that does not suffice, the gradients of layer outputs are left out.
"""

from __future__ import annotations

FULL, NO_OUTPUT_GRADIENTS, NORMS = 2, 1, 0


class Preset:
    """A price class."""

    def __init__(self, name, first, stride, cap, share):
        self.name = name
        self.first = first
        """Every one of the first steps is sampled."""
        self.stride = stride
        """After them one step in this many."""
        self.cap = cap
        """Numbers taken from each tensor, at most."""
        self.share = share
        """Share of the training time the probe may take; none for no bound."""


PRESETS = {
    "quick": Preset("quick", 20, 50, 4096, 0.03),
    "normal": Preset("normal", 50, 10, 16384, 0.10),
    "deep": Preset("deep", 100, 1, 1 << 20, None),
}


class Schedule:
    """Decides per step, and turns the detail down when looking costs too much."""

    CALIBRATION = 4
    """Looks before the price is judged: the first ones pay for warming up."""
    FLOOR = 256

    def __init__(self, preset):
        self.preset = PRESETS[preset]
        self.cap = self.preset.cap
        self.detail = FULL
        self._looks = 0
        self._price = 0.0
        self._plain = 0.0

    def next(self, step):
        """The first step from `step` on, counted from 0, that is sampled."""
        first, stride = self.preset.first, self.preset.stride
        return step if step < first else first + -(-(step - first) // stride) * stride

    def paid(self, price, step_time):
        """Tell what the last look cost, beside the time the step itself took."""
        self._looks += 1
        if self._looks <= self.CALIBRATION or self.preset.share is None:
            return
        self._price = _smooth(self._price, price)
        self._plain = _smooth(self._plain, max(step_time, 1e-9))
        if self._looks % self.CALIBRATION == 0:
            self._judge()

    def _judge(self):
        share = self._price / self._plain / self.preset.stride
        if share <= self.preset.share:
            return
        if self.cap > self.FLOOR:
            self.cap = max(self.FLOOR, self.cap // 4)
        elif self.detail > NORMS:
            self.detail -= 1


def _smooth(old, new):
    return new if old == 0.0 else 0.7 * old + 0.3 * new
