"""One update of the weights, on a looked-at step: what was before, what came of it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from reenact_probe import rows
from reenact_probe.types import Tensor

if TYPE_CHECKING:
    from reenact_probe.window import Window

NAN = float("nan")


class Update:
    """Asks the open window right before the weights move and right after."""

    def __init__(self, watch: Any) -> None:
        self.watch = watch
        self._late = False

    def begins(self, parameters: list[Tensor], late: bool) -> None:
        """Right before the weights move; `late` when the gradients come only with a closure."""
        watch = self.watch
        began = time.perf_counter()
        watch.leave_mode()
        watch.window.before_step(watch.model.followed(parameters))
        if not late:
            watch.window.take_gradients()
        self._late = late
        watch.model.describe()
        watch.price += time.perf_counter() - began

    def ends(self) -> tuple[float, ...] | None:
        """Right after: rows of the window, and (gradient, weight, update norms, accuracy) of the whole
        step.
        """
        watch = self.watch
        window, watch.window = watch.window, None
        if self._late:
            # The closure brought the first pass: only now is there something to describe.
            watch.model.describe()
        if window.before is None:
            watch.recorder.spent += watch.price
            watch.price = 0.0
            return None
        if self._late:
            window.take_gradients()
        window.after_step()
        return self._write(window)

    def _write(self, window: Window) -> tuple[float, ...]:
        recorder = self.watch.recorder
        accuracy = self.watch.sight.accuracy(window)
        table, raw = window.fetch()
        for row in rows.layer_rows(window, table, raw, recorder.step):
            recorder.tables["layers"].add(row)
        found = list(rows.parameter_rows(window, table, raw, recorder.step))
        for row in found:
            recorder.tables["parameters"].add(row)
        return (
            rows.total(raw, window.grad_norms),
            rows.total(raw, window.weight_norms),
            rows.total_update(found),
            float(raw[accuracy][0]) if accuracy is not None else NAN,
        )
