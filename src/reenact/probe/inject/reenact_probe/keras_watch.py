"""The observer of Keras 3: fit, evaluate and train_on_batch from outside; layers and gradients on the
torch backend.
"""

from __future__ import annotations

import importlib
import inspect
import time

from reenact_probe import keras_data, keras_graph
from reenact_probe.guard import guarded, patch
from reenact_probe.places import caller

NAN = float("nan")


class KerasWatch:
    """One per process. On torch it works through the torch observer; elsewhere it sees what `fit` sees."""

    def __init__(self, keras, session):
        self.keras = keras
        self.session = session
        self.recorder = session.recorder
        self.backend = keras.backend.backend()
        self.recorder.note_framework("keras backend", self.backend)
        self.torch_watch = session.torch if self.backend == "torch" else None
        self.model = None
        self.loss = None
        self.in_fit = False
        self.epochs_begun = 0
        self._where = None
        self._ended = None
        self._install()
        if self.torch_watch is not None:
            from reenact_probe.keras_torch import KerasTorch

            self.torch_part = KerasTorch(keras, self, self.torch_watch)
        else:
            self.recorder.note_missing(
                f"gradients, weights and layer outputs: Keras runs on {self.backend}, "
                "only fit-level facts are seen"
            )

    def _install(self):
        callbacks = self.keras.callbacks.CallbackList
        for name in ("on_epoch_begin", "on_epoch_end", "on_test_end", "on_train_batch_end"):
            patch(callbacks, name, getattr(self, f"_wrap_{name}"))
        owner = next(base for base in self.keras.Model.__mro__ if "fit" in vars(base))
        patch(owner, "fit", self._wrap_fit)
        patch(owner, "evaluate", self._wrap_evaluate)
        trainer = next(base for base in self.keras.Model.__mro__ if "compile" in vars(base))
        patch(trainer, "compile", self._wrap_compile)
        patch(self.keras.losses.Loss, "__init__", self._wrap_made)
        patch(self.keras.losses.Loss, "__call__", self._wrap_loss)
        if self.backend != "torch":
            # Not `__init__`: Keras reads that signature to learn what a layer was given.
            layer = self.keras.layers.Layer
            layer.__new__ = staticmethod(self._wrap_new(layer.__new__))
        optimizer = importlib.import_module("keras.src.optimizers.base_optimizer").BaseOptimizer
        patch(optimizer, "__init__", self._wrap_optimizer)

    @property
    def made(self):
        if self.torch_watch is not None:
            return self.torch_watch.made
        if not hasattr(self, "_made"):
            from reenact_probe.made import Made

            self._made = Made()
        return self._made

    # What is made -----------------------------------------------------------------------------------------

    def _wrap_made(self, original):
        def __init__(thing, *args, **kwargs):  # noqa: N807
            original(thing, *args, **kwargs)
            self._note(thing)

        return __init__

    def _wrap_new(self, original):
        def __new__(cls, *args, **kwargs):  # noqa: N807
            layer = original(cls, *args, **kwargs)
            self._note(layer)
            return layer

        return __new__

    def _wrap_optimizer(self, original):
        def __init__(thing, *args, **kwargs):  # noqa: N807
            original(thing, *args, **kwargs)
            self._note(thing)
            if self.torch_watch is not None:
                self.torch_watch.external_optimizer = True

        return __init__

    @guarded("keras-construct")
    def _note(self, thing):
        self.made.note(thing)

    def _wrap_compile(self, original):
        def compile(model, *args, **kwargs):  # noqa: A001
            self._compiled()
            return original(model, *args, **kwargs)

        return compile

    @guarded("compile")
    def _compiled(self):
        self._where = caller()

    def _wrap_loss(self, original):
        def __call__(loss, y_true, y_pred, *args, **kwargs):  # noqa: N807
            self._loss_called(loss, y_true, y_pred)
            return original(loss, y_true, y_pred, *args, **kwargs)

        return __call__

    @guarded("keras-loss")
    def _loss_called(self, loss, y_true, y_pred):
        if type(loss).__name__ == "CompileLoss":
            return
        if self.loss is None:
            self.loss = keras_graph.loss_facts(loss, self.made.place(loss) or self._where)
        if self.torch_watch is not None:
            self.torch_part.loss_called(y_true, y_pred)

    # fit and evaluate -------------------------------------------------------------------------------------

    def _wrap_fit(self, original):
        signature = inspect.signature(original)

        def fit(model, *args, **kwargs):
            outer = self.in_fit
            self._fit_begins(model, signature, args, kwargs)
            self.in_fit = True
            try:
                return original(model, *args, **kwargs)
            finally:
                self.in_fit = outer
                self._fit_ends(model)

        return fit

    @guarded("fit")
    def _fit_begins(self, model, signature, args, kwargs):
        self.model = model
        try:
            given = signature.bind(model, *args, **kwargs)
        except TypeError:
            return
        given.apply_defaults()
        wanted = given.arguments
        facts = {
            key: wanted.get(key) for key in ("batch_size", "epochs", "validation_split", "initial_epoch")
        }
        facts["shuffle"] = bool(wanted.get("shuffle"))
        facts["validation"] = wanted.get("validation_data") is not None or bool(
            wanted.get("validation_split")
        )
        facts["callbacks"] = [type(item).__name__ for item in _as_list(wanted.get("callbacks"))]
        facts["class_weight"] = wanted.get("class_weight") is not None
        facts["data"] = type(wanted.get("x")).__name__
        self.recorder.event("fit", place=caller(), **facts)
        self._read_data(wanted)

    def _read_data(self, wanted):
        x, y, held = wanted.get("x"), wanted.get("y"), wanted.get("validation_data")
        share = wanted.get("validation_split")
        if held is None and share and y is not None and keras_data.in_memory(x):
            (x, y), held = keras_data.split_off(x, y, share)
        data = self.data
        keras_data.read(data, "train", x, y, self.recorder.step)
        if isinstance(held, (tuple, list)) and len(held) >= 2:
            keras_data.read(data, "validation", held[0], held[1], self.recorder.step)

    @property
    def data(self):
        if self.torch_watch is not None:
            return self.torch_watch.data
        if not hasattr(self, "_data"):
            from reenact_probe.facts import Data

            self._data = Data()
        return self._data

    def joined(self, model, begins):
        """A callback joins a `fit` that began before anybody looked, or leaves it."""
        self.model = model
        self.in_fit = begins

    @guarded("fit-end")
    def _fit_ends(self, model):
        if self.torch_watch is not None:
            self.torch_part.fit_ends(model)
        elif self.recorder.owned:
            self._describe()

    def _wrap_evaluate(self, original):
        signature = inspect.signature(original)

        def evaluate(model, *args, **kwargs):
            if not self.in_fit:
                self._evaluates(model, signature, args, kwargs)
            return original(model, *args, **kwargs)

        return evaluate

    @guarded("evaluate")
    def _evaluates(self, model, signature, args, kwargs):
        try:
            given = signature.bind(model, *args, **kwargs).arguments
        except TypeError:
            return
        keras_data.read(self.data, "test", given.get("x"), given.get("y"), self.recorder.step)

    # Callbacks --------------------------------------------------------------------------------------------

    def _wrap_on_epoch_begin(self, original):
        def on_epoch_begin(container, epoch, logs=None):
            self._epoch_begins(container)
            return original(container, epoch, logs)

        return on_epoch_begin

    @guarded("epoch")
    def _epoch_begins(self, container):
        self.recorder.epoch = self.epochs_begun
        self.epochs_begun += 1
        steps = (getattr(container, "params", None) or {}).get("steps")
        if not steps:
            return
        last = self.recorder.step + steps - 1
        if self.recorder.schedule.epoch_ends(last) and self.torch_watch is not None:
            self.torch_watch.steps.look_by(last)

    def _wrap_on_epoch_end(self, original):
        def on_epoch_end(container, epoch, logs=None):
            self._logged(logs, "")
            return original(container, epoch, logs)

        return on_epoch_end

    def _wrap_on_test_end(self, original):
        def on_test_end(container, logs=None):
            if not self.in_fit:
                self._logged(logs, "test_")
            return original(container, logs)

        return on_test_end

    @guarded("metrics")
    def _logged(self, logs, prefix):
        for name, value in (logs or {}).items():
            self.recorder.metric(prefix + name, value, "keras")

    def _wrap_on_train_batch_end(self, original):
        def on_train_batch_end(container, batch, logs=None):
            if self.torch_watch is None:
                self._step_ends(logs)
            return original(container, batch, logs)

        return on_train_batch_end

    @guarded("keras-step")
    def _step_ends(self, logs):
        """A step on a backend whose inside is not seen: the loss is read on sampled steps only."""
        recorder = self.recorder
        now = time.perf_counter()
        schedule = recorder.schedule
        sampled = not schedule.bare and schedule.next(recorder.step) == recorder.step
        if sampled:
            schedule.looked(recorder.step)
        read = sampled or schedule.bare
        loss = float((logs or {}).get("loss", NAN)) if read else NAN
        rate = self.learning_rate(self.model.optimizer) if read and self.model is not None else NAN
        row = [NAN] * 16
        row[:5] = recorder.step, now - recorder.began, recorder.epoch, loss, rate
        row[6], row[8], row[9], row[10] = 1, 1, float(sampled), 0
        recorder.tables["steps"].add(row)
        recorder.step += 1
        if recorder.step == 1:
            recorder.note_missing("the loss of a step is the running mean of its epoch")
            self._describe()
        if now >= recorder.next_flush:
            recorder.flush()
        if recorder.config.stop_after is not None and recorder.step >= recorder.config.stop_after:
            from reenact_probe import ending

            ending.stop_here(recorder)

    @staticmethod
    def learning_rate(optimizer):
        """The rate of the step to come, as a number."""
        try:
            value = optimizer._get_current_learning_rate()
            value = getattr(value, "value", value)
            return float(value.item() if hasattr(value, "item") else value)
        except (AttributeError, TypeError, ValueError):
            return NAN

    # The end ----------------------------------------------------------------------------------------------

    def _describe(self):
        model = self.model
        if model is None:
            return
        layers = [
            keras_graph.layer_facts(layer, self.made.place(layer)) for layer in keras_graph.leaves(model)
        ]
        self.recorder.write_graph(self.graph(layers, model, model.optimizer))

    def graph(self, layers, model, optimizer):
        """The model graph as JSON, whoever found the layers."""
        weights = model.weights if model is not None else []
        facts = None
        if optimizer is not None:
            place = self.made.place(optimizer) or self._where
            given = len(getattr(optimizer, "_trainable_variables", ()))
            facts = keras_graph.optimizer_facts(optimizer, place, self.learning_rate(optimizer), given)
        return {
            "framework": "keras",
            "model": type(model).__name__ if model is not None else "",
            "layers": layers,
            "loss": self.loss,
            "optimizer": facts,
            "parameters": int(sum(_size(variable.shape) for variable in weights)),
            "trainable_parameters": int(
                sum(_size(variable.shape) for variable in weights if variable.trainable)
            ),
            "unregistered": [],
            "batch_size": None,
        }

    def finish(self):
        """The process ends."""
        if self.torch_watch is None and self.recorder.owned and self.data.dirty:
            self.recorder.folder.write_json("data.json", self.data.as_dict(self.recorder.step))

    @staticmethod
    def crash_facts(_):
        return {}


def _as_list(value):
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _size(shape):
    size = 1
    for part in shape:
        size *= part or 1
    return size
