"""Keras's own callbacks, overheard: epochs, metrics, and steps where nothing deeper can be seen."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from reenact_probe.guard import guarded, patch
from reenact_probe.types import Function, Library, Logs, Row

if TYPE_CHECKING:
    from reenact_probe.keras_watch import KerasWatch

NAN = float("nan")


class Callbacks:
    """Listens where Keras tells its callbacks."""

    def __init__(self, keras: Library, watch: KerasWatch) -> None:
        self.watch = watch
        self.recorder = watch.recorder
        self.epochs_begun = 0
        told = keras.callbacks.CallbackList
        patch(told, "on_epoch_begin", self._wrap_epoch_begin)
        patch(told, "on_epoch_end", self._wrap_epoch_end)
        patch(told, "on_test_end", self._wrap_test_end)
        if watch.torch_watch is None:
            patch(told, "on_train_batch_end", self._wrap_train_batch_end)

    def _wrap_epoch_begin(self, original: Function) -> Function:
        def on_epoch_begin(container: Any, epoch: Any, logs: Any = None) -> Any:
            self._epoch_begins(container)
            return original(container, epoch, logs)

        return on_epoch_begin

    @guarded("epoch")
    def _epoch_begins(self, container: Any) -> None:
        self.recorder.epoch = self.epochs_begun
        self.epochs_begun += 1
        if self.watch.torch_watch is None:
            # Now: while an epoch runs, JAX keeps the values of the variables to itself.
            self.watch.describe()
        steps = (getattr(container, "params", None) or {}).get("steps")
        if not steps:
            return
        last = self.recorder.step + steps - 1
        if self.recorder.schedule.epoch_ends(last) and self.watch.torch_watch is not None:
            self.watch.torch_watch.steps.look_by(last)

    def _wrap_epoch_end(self, original: Function) -> Function:
        def on_epoch_end(container: Any, epoch: Any, logs: Any = None) -> Any:
            self._logged(logs, "")
            return original(container, epoch, logs)

        return on_epoch_end

    def _wrap_test_end(self, original: Function) -> Function:
        def on_test_end(container: Any, logs: Any = None) -> Any:
            if not self.watch.in_fit:
                self._logged(logs, "test_")
            return original(container, logs)

        return on_test_end

    @guarded("metrics")
    def _logged(self, logs: Logs, prefix: str) -> None:
        for name, value in (logs or {}).items():
            self.recorder.metric(prefix + name, value, "keras")

    def _wrap_train_batch_end(self, original: Function) -> Function:
        def on_train_batch_end(container: Any, batch: Any, logs: Any = None) -> Any:
            self._step_ends(logs)
            return original(container, batch, logs)

        return on_train_batch_end

    @guarded("keras-step")
    def _step_ends(self, logs: Logs) -> None:
        """A step on a backend whose inside is not seen: the loss is read on sampled steps only."""
        recorder = self.recorder
        now = time.perf_counter()
        recorder.tables["steps"].add(self._row(now - recorder.began, logs))
        recorder.step += 1
        if recorder.step == 1:
            recorder.note_missing("the loss of a step is the running mean of its epoch")
            self.watch.describe()
        if now >= recorder.next_flush:
            recorder.flush()
        if recorder.config.stop_after is not None and recorder.step >= recorder.config.stop_after:
            from reenact_probe import ending

            ending.stop_here(recorder)

    def _row(self, seconds: float, logs: Logs) -> Row:
        recorder, model = self.recorder, self.watch.model
        schedule = recorder.schedule
        sampled = not schedule.bare and schedule.next(recorder.step) == recorder.step
        if sampled:
            schedule.looked(recorder.step)
        read = sampled or schedule.bare
        loss = float((logs or {}).get("loss", NAN)) if read else NAN
        rate = self.watch.learning_rate(model.optimizer) if read and model is not None else NAN
        row = [NAN] * 16
        row[:5] = recorder.step, seconds, recorder.epoch, loss, rate
        row[6], row[8], row[9], row[10] = 1, 1, float(sampled), 0
        return row
