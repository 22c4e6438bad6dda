"""Stands in the place of Keras's `fit` and `evaluate`, below the probe, and hands over to them whatever it
does not know.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect

from reenact_express import recognise, training
from reenact_express.data import check_arrays
from reenact_express.refused import Refused
from reenact_express.told import Note

_KNOWN = "_reenact_training"
"""Where a model keeps its last recognised training, for `evaluate`."""


def install(keras, note_path, park=None):
    """From now on. `park` may have a recognised training done elsewhere: see `parking`."""
    note = Note(note_path)
    if keras.backend.backend() != "torch":
        note.refuses("Keras does not run on torch")
        return
    try:
        express = _Express(keras, note, park)
        owner = express.trainer.TorchTrainer
        fit, evaluate = express.around_fit(owner.fit), express.around_evaluate(owner.evaluate)
    except (ImportError, AttributeError):
        note.refuses("this version of Keras is not known")
        return
    owner.fit, owner.evaluate = fit, evaluate


class _Express:
    def __init__(self, keras, note, park):
        self.keras, self.note, self.park = keras, note, park
        self.torch = importlib.import_module("torch")
        self.trainer = importlib.import_module("keras.src.backend.torch.trainer")
        self.slicing = importlib.import_module("keras.src.trainers.data_adapters.array_slicing")
        self.unpack = importlib.import_module(
            "keras.src.trainers.data_adapters.data_adapter_utils"
        ).unpack_x_y_sample_weight

    def around_fit(self, original):
        signature = inspect.signature(original)

        @functools.wraps(original)
        def fit(model, *args, **kwargs):
            try:
                given = _bound(signature, model, args, kwargs)
                ready = self.prepare(model, given)
            except Refused as reason:
                self.note.refuses(str(reason))
                vars(model).pop(_KNOWN, None)
                return original(model, *args, **kwargs)
            self.note.took()
            return self.run(model, given, *ready)

        return fit

    def prepare(self, model, given):
        """Everything before the first callback, as Keras does it; then look whether it is known."""
        x, y, weighted = given["x"], given["y"], given["sample_weight"]
        self._check_wishes(model, given)
        validation = given["validation_data"]
        if given["validation_split"] and validation is None:
            (x, y, weighted), validation = self.slicing.train_validation_split(
                (x, y, weighted), validation_split=given["validation_split"]
            )
        model._eval_epoch_iterator = None
        iterator = self._iterator(
            x, y, weighted, given["batch_size"], shuffle=given["shuffle"], class_weight=given["class_weight"]
        )
        model._symbolic_build(iterator=iterator)
        iterator.reset()
        with _own_errors_refuse():
            plan, variables = recognise.recognise(self.keras, model)
            known = training.Training(self.keras, self.torch, model, plan, variables, iterator)
        return known, iterator, validation

    def _check_wishes(self, model, given):
        check_arrays(self.torch, given["x"], given["y"], given["sample_weight"])
        if given["y"] is None or given["x"] is None:
            raise Refused("there are no targets")
        held = given["validation_data"]
        if held is not None:
            if not isinstance(held, (tuple, list)) or len(held) not in (2, 3):
                raise Refused("the validation data is no pair of arrays")
            check_arrays(self.torch, *held)
        if given["steps_per_epoch"] or given["validation_steps"]:
            raise Refused("the number of steps is given")
        if not getattr(model, "compiled", False) or model._should_torch_compile():
            raise Refused("the model is not compiled, or by torch")
        if not hasattr(model, "_symbolic_build"):
            raise Refused("this version of Keras is not known")
        if self.keras.config.epsilon() != 1e-7 or self.keras.config.floatx() != "float32":
            raise Refused("Keras has an epsilon or a float type of its own")
        if isinstance(given["callbacks"], self.keras.callbacks.CallbackList):
            raise Refused("the list of callbacks is ready made")
        if importlib.import_module("keras.src.backend.config").max_epochs():
            raise Refused("Keras limits the epochs")
        training.check_callbacks(self.keras, _as_list(given["callbacks"]))

    def _iterator(self, x, y, weighted, batch_size, **more):
        return self.trainer.TorchEpochIterator(
            x=x, y=y, sample_weight=weighted, batch_size=batch_size, steps_per_execution=1, **more
        )

    def run(self, model, given, known, iterator, validation):
        """From the first callback to the last."""
        callbacks = self.keras.callbacks.CallbackList(
            given["callbacks"],
            add_history=True,
            add_progbar=given["verbose"] != 0,
            verbose=given["verbose"],
            epochs=given["epochs"],
            steps=iterator.num_batches,
            model=model,
        )
        setattr(model, _KNOWN, known)
        batch = given["validation_batch_size"] or given["batch_size"]
        made = functools.lru_cache(maxsize=1)(lambda: self._held(validation, batch))
        held = made if validation is not None else None
        epochs = range(model._initial_epoch or given["initial_epoch"], given["epochs"])
        source = known
        if self.park is not None and not _as_list(given["callbacks"]) and given["validation_freq"] == 1:
            source = self.park(known, epochs, held) or known
        try:
            return training.run(
                known,
                source,
                callbacks,
                epochs,
                held,
                lambda epoch: model._should_eval(epoch, given["validation_freq"]),
            )
        finally:
            # Only the plan is needed any more; the data may be large.
            known.held = None

    def _held(self, validation, batch_size):
        x, y, weighted = self.unpack(tuple(validation))
        iterator = self._iterator(x, y, weighted, batch_size, shuffle=False)
        iterator.reset()
        return training.Held(self.torch, iterator)

    def around_evaluate(self, original):
        signature = inspect.signature(original)

        @functools.wraps(original)
        def evaluate(model, *args, **kwargs):
            try:
                found = self._evaluated(model, _bound(signature, model, args, kwargs))
            except Refused:
                return original(model, *args, **kwargs)
            return found

        return evaluate

    def _evaluated(self, model, given):
        known = getattr(model, _KNOWN, None)
        plain = not given.get("kwargs") and given["steps"] is None and given["callbacks"] is None
        if known is None or not plain or given["y"] is None:
            raise Refused("nothing is known of this model, or the evaluation has wishes")
        check_arrays(self.torch, given["x"], given["y"], given["sample_weight"])
        with _own_errors_refuse():
            fresh, variables = recognise.recognise(self.keras, model)
            if fresh != known.plan or [id(v) for v in variables] != [id(v) for v in known.variables]:
                raise Refused("the model has changed since")
            held = self._held((given["x"], given["y"], given["sample_weight"]), given["batch_size"])
        callbacks = self.keras.callbacks.CallbackList(
            None,
            add_progbar=given["verbose"] != 0,
            verbose=given["verbose"],
            epochs=1,
            steps=held.order.iterator.num_batches,
            model=model,
        )
        callbacks.on_test_begin()
        logs = training.evaluated(known, known, held)
        callbacks.on_test_end(logs)
        return logs if given["return_dict"] else model._flatten_metrics_in_order(logs)


@contextlib.contextmanager
def _own_errors_refuse():
    """While nothing is trained yet, an error of ours is one more reason to leave it to Keras."""
    try:
        yield
    except Refused:
        raise
    except Exception as error:
        raise Refused(f"an error of our own ({type(error).__name__}: {error})") from error


def _bound(signature, model, args, kwargs):
    try:
        given = signature.bind(model, *args, **kwargs)
    except TypeError as error:
        raise Refused("the call does not fit") from error
    given.apply_defaults()
    return given.arguments


def _as_list(value):
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]
