"""Keras's `fit` and `evaluate`: what they are asked to do, and what Keras tells its callbacks meanwhile.

Of the data that they are given, arrays are read in place and generators are left alone.
"""

from __future__ import annotations

import functools
import inspect
import time
from typing import Any, Protocol

import numpy

from reenact_probe import ending
from reenact_probe.data import Data, Split
from reenact_probe.guard import before, guarded, patch
from reenact_probe.keras.graph import learning_rate
from reenact_probe.places import caller
from reenact_probe.recorder import Recorder
from reenact_probe.types import Args, Array, Facts, Function, Kwargs, Library, Logs, Module, Place, Row

NAN = float("nan")


class FitListener(Protocol):
    """Who is notified of fits."""

    @property
    def in_fit(self) -> bool: ...

    @property
    def model(self) -> Module | None: ...

    def fit_begins(self, model: Module, place: Place | None) -> None: ...

    def fit_ends(self, model: Module) -> None: ...

    def epoch_begins(self, steps: int | None) -> None: ...

    def describe(self) -> None: ...


class Fit:
    """Knows whether a `fit` is under way."""

    def __init__(self, keras: Library, recorder: Recorder, data: Data, listener: FitListener) -> None:
        self.recorder = recorder
        self.data = data
        self.listener = listener
        self.under_way = False
        owner = next(base for base in keras.Model.__mro__ if "fit" in vars(base))
        patch(owner, "fit", self._wrap_fit)
        signature = inspect.signature(owner.evaluate)
        before(owner, "evaluate", lambda *args, **kwargs: self._evaluates(signature, args, kwargs))

    def _wrap_fit(self, original: Function) -> Function:
        signature = inspect.signature(original)

        def fit(model: Module, *args: Any, **kwargs: Any) -> Any:
            outer = self.under_way
            self._begins(model, signature, args, kwargs)
            self.under_way = True
            try:
                return original(model, *args, **kwargs)
            finally:
                self.under_way = outer
                self._ends(model)

        return fit

    @guarded("fit")
    def _begins(self, model: Module, signature: inspect.Signature, args: Args, kwargs: Kwargs) -> None:
        place = caller()
        self.listener.fit_begins(model, place)
        try:
            given = signature.bind(model, *args, **kwargs)
        except TypeError:
            return
        given.apply_defaults()
        wanted = given.arguments
        facts = {key: wanted.get(key) for key in ("batch_size", "epochs", "validation_split")}
        facts["shuffle"] = bool(wanted.get("shuffle"))
        facts["data"] = type(wanted.get("x")).__name__
        self.recorder.event("fit", place=place, **facts)
        self._read_data(wanted)

    def _read_data(self, wanted: Facts) -> None:
        x, y, held = wanted.get("x"), wanted.get("y"), wanted.get("validation_data")
        share = wanted.get("validation_split")
        if held is None and share and y is not None and _array(x) is not None:
            (x, y), held = split_off(x, y, share)
        read_split(self.data, "train", x, y, self.recorder.step)
        if isinstance(held, (tuple, list)) and len(held) >= 2:
            read_split(self.data, "validation", held[0], held[1], self.recorder.step)

    @guarded("fit-end")
    def _ends(self, model: Module) -> None:
        self.listener.fit_ends(model)

    @guarded("evaluate")
    def _evaluates(self, signature: inspect.Signature, args: Args, kwargs: Kwargs) -> None:
        if self.under_way:
            return
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError:
            return
        read_split(self.data, "test", given.get("x"), given.get("y"), self.recorder.step)


class Callbacks:
    """Listens where Keras tells its callbacks: epochs, metrics, and steps where nothing deeper is seen."""

    def __init__(self, keras: Library, recorder: Recorder, listener: FitListener, sees_steps: bool) -> None:
        self.recorder = recorder
        self.listener = listener
        self._epochs_begun = 0
        callbacks = keras.callbacks.CallbackList
        before(callbacks, "on_epoch_begin", lambda list_, epoch, logs=None: self._epoch_begins(list_))  # noqa: ARG005
        before(callbacks, "on_epoch_end", lambda list_, epoch, logs=None: self._logged(logs, ""))  # noqa: ARG005
        before(callbacks, "on_test_end", self._test_ends)
        if sees_steps:
            before(callbacks, "on_train_batch_end", lambda list_, batch, logs=None: self._step_ends(logs))  # noqa: ARG005

    @guarded("epoch")
    def _epoch_begins(self, container: Any) -> None:
        self.recorder.set_epoch(self._epochs_begun)
        self._epochs_begun += 1
        self.listener.epoch_begins((getattr(container, "params", None) or {}).get("steps"))

    def _test_ends(self, _: Any, logs: Logs = None) -> None:
        if not self.listener.in_fit:
            self._logged(logs, "test_")

    @guarded("metrics")
    def _logged(self, logs: Logs, prefix: str) -> None:
        for name, value in (logs or {}).items():
            self.recorder.metric(prefix + name, value, "keras")

    @guarded("keras-step")
    def _step_ends(self, logs: Logs) -> None:
        """A step on a backend whose inside is not seen: the loss is read on sampled steps only."""
        recorder = self.recorder
        now = time.perf_counter()
        recorder.tables["steps"].add(self._row(now - recorder.began, logs))
        step = recorder.next_step()
        if step == 1:
            recorder.note_missing("the loss of a step is the running mean of its epoch")
            self.listener.describe()
        if now >= recorder.next_flush:
            recorder.flush()
        if recorder.config.stop_after is not None and step >= recorder.config.stop_after:
            ending.stop_here(recorder)

    def _row(self, seconds: float, logs: Logs) -> Row:
        recorder, model = self.recorder, self.listener.model
        schedule = recorder.schedule
        sampled = not schedule.bare and schedule.next(recorder.step) == recorder.step
        if sampled:
            schedule.looked(recorder.step)
        read = sampled or schedule.bare
        loss = float((logs or {}).get("loss", NAN)) if read else NAN
        rate = learning_rate(model.optimizer) if read and model is not None else NAN
        row = [NAN] * 16
        row[:5] = recorder.step, seconds, recorder.epoch, loss, rate
        row[6], row[8], row[9], row[10] = 1, 1, float(sampled), 0
        return row


def read_split(data: Data, name: str, x: Any, y: Any, step: int) -> None:
    """Facts of one split, when its data lies in memory."""
    inputs, labels = _array(x), _array(y)
    if inputs is None:
        return
    split = Split(step)
    for role, array in (("input", inputs), ("label", labels)):
        if array is not None:
            dtype = str(array.dtype).replace("torch.", "")
            split.read(role, functools.partial(_rows, array), len(array), dtype)
    data.add_whole(name, split, news=True)


def _array(value: Any) -> Any:
    """The first array in what was given: numpy, torch on the CPU, or a list of them; none for a generator."""
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


def _rows(array: Any, chosen: slice) -> Array:
    rows = array[chosen]
    return rows.detach().numpy() if hasattr(rows, "detach") else numpy.asarray(rows)


def split_off(x: Any, y: Any, share: float) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """What Keras itself does with `validation_split`: the last rows are held out."""
    first = _array(x)
    cut = int(len(first) * (1 - share)) if first is not None else 0
    kept, held = slice(0, cut), slice(cut, None)
    return (_cut(x, kept), _cut(y, kept)), (_cut(x, held), _cut(y, held))


def _cut(value: Any, rows: slice) -> Any:
    if value is None:
        return None
    if isinstance(value, dict):
        return {key: _cut(part, rows) for key, part in value.items()}
    if isinstance(value, (list, tuple)) and value and hasattr(value[0], "shape"):
        return [part[rows] for part in value]
    return value[rows]
