"""Teaches Keras 3 the old names: layers, optimizers, models, metrics, backend functions, seeds.

`numpy.random.seed` or `tf.random.set_seed` used to decide the initial weights. Keras 3 draws the seeds of its
initializers from Python's `random`, and torch has a generator of its own. An old program that seeds numpy
alone expects the same run again; so those two are seeded along with it.
"""

from __future__ import annotations

import functools
import importlib
import random
import sys
from collections.abc import Callable
from typing import Any

from reenact_probe.oldkeras import arguments
from reenact_probe.oldkeras.arguments import Shim
from reenact_probe.types import Function, Kwargs, Library, Optimizer


def put(owner: Any, name: str, make: Callable[[Function], Function]) -> None:
    """Replace an attribute for good: a program that needs the shim needs it also when the probe is
    switched off.
    """
    original = getattr(owner, name)
    setattr(owner, name, functools.wraps(original)(make(original)))


def adapt(keras: Library, shim: Shim) -> None:
    """Everything at once, right after Keras was imported."""
    _seeds()
    _layers(keras, shim)
    _optimizers(keras)
    _models(keras)
    _logs(keras)
    _backend(keras)


def _layers(keras: Library, shim: Shim) -> None:
    layers = keras.layers
    for cls in {getattr(layers, name) for name in dir(layers) if isinstance(getattr(layers, name), type)}:
        if issubclass(cls, layers.Layer) and "__init__" in vars(cls):
            # Without `functools.wraps`: Keras reads this signature to bind what the layer is given.
            cls.__init__ = _wrap_layer(cls, shim)
    for name, translate in arguments.CONVOLUTIONS.items():
        setattr(layers, name, _factory(getattr(layers, name), translate))
    layers.TimeDistributedDense = lambda *a, **k: layers.TimeDistributed(layers.Dense(*a, **k))
    layers.CuDNNLSTM, layers.CuDNNGRU = layers.LSTM, layers.GRU
    layers.AtrousConvolution2D = layers.Conv2D
    layers.Deconvolution2D = layers.Conv2DTranspose
    layers.merge = _merge(layers)
    for old, new in (("l1l2", "l1_l2"), ("activity_l2", "l2"), ("activity_l1", "l1")):
        setattr(keras.regularizers, old, getattr(keras.regularizers, new))


def _wrap_layer(cls: Any, shim: Shim) -> Function:
    original, kind = cls.__init__, cls.__name__

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        original(self, *args, **arguments.layer(kind, kwargs, shim))

    return __init__


def _factory(cls: Any, translate: Function) -> Function:
    """Called like the class of Keras 1, makes an instance of the class of today."""

    def make(*args: Any, **kwargs: Any) -> Function:
        args, kwargs = translate(args, kwargs)
        return cls(*args, **kwargs)

    make.__name__ = cls.__name__
    return make


def _merge(layers: Any) -> Function:
    modes = {"concat": layers.concatenate, "sum": layers.add, "mul": layers.multiply, "ave": layers.average,
             "max": layers.maximum, "dot": layers.dot}  # fmt: skip

    def merge(
        inputs: Any, mode: Any = "sum", concat_axis: Any = -1, dot_axes: Any = -1, name: Any = None, **_: Any
    ) -> Any:
        extra = {"concat": {"axis": concat_axis}, "dot": {"axes": dot_axes}}.get(mode, {})
        return modes[mode](inputs, name=name, **extra)

    return merge


def _optimizers(keras: Library) -> None:
    base = importlib.import_module("keras.src.optimizers.base_optimizer").BaseOptimizer
    found = [getattr(keras.optimizers, name) for name in dir(keras.optimizers)]
    for cls in {item for item in found if isinstance(item, type)}:
        if issubclass(cls, base) and cls is not base and "__init__" in vars(cls):
            put(cls, "__init__", _wrap_optimizer(keras))
    base.lr = property(
        lambda self: self.learning_rate, lambda self, value: setattr(self, "learning_rate", value)
    )


def _wrap_optimizer(keras: Library) -> Function:
    def make(original: Function) -> Function:
        def __init__(optimizer: Optimizer, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            args, kwargs = arguments.optimizer(keras, args, kwargs)
            original(optimizer, *args, **kwargs)

        return __init__

    return make


def _models(keras: Library) -> None:
    model = keras.Model
    fit_owner = next(base for base in model.__mro__ if "fit" in vars(base))
    compile_owner = next(base for base in model.__mro__ if "compile" in vars(base))
    for owner, name in (
        (fit_owner, "fit"),
        (fit_owner, "evaluate"),
        (fit_owner, "predict"),
        (compile_owner, "compile"),
    ):
        put(owner, name, _wrap_method(name))
    functional = importlib.import_module("keras.src.models.functional").Functional
    put(functional, "__init__", _wrap_functional)
    model.__new__ = staticmethod(_wrap_new_model(model.__new__))
    model.fit_generator = lambda self, *args, **kwargs: self.fit(*args, **arguments.generator(kwargs))
    model.evaluate_generator = lambda self, *args, **kwargs: self.evaluate(
        *args, **arguments.generator(kwargs)
    )
    model.predict_generator = lambda self, *args, **kwargs: self.predict(*args, **arguments.generator(kwargs))
    model.predict_proba = lambda self, *args, **kwargs: self.predict(*args, **kwargs)
    model.predict_classes = _predict_classes


def _wrap_method(name: str) -> Function:
    def make(original: Function) -> Function:
        def method(model: Any, *args: Any, **kwargs: Any) -> Any:
            return original(model, *args, **arguments.method(name, kwargs))

        return method

    return make


def _wrap_functional(original: Function) -> Function:
    def __init__(model: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        original(model, *args, **_plural(kwargs))

    return __init__


def _wrap_new_model(original: Function) -> Function:
    def __new__(cls: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
        return original(cls, *args, **_plural(kwargs))

    return __new__


def _plural(kwargs: Kwargs) -> Kwargs:
    names = {"input": "inputs", "output": "outputs"}
    return {names.get(key, key): value for key, value in kwargs.items()}


def _predict_classes(self: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    found = self.predict(x, *args, **kwargs)
    return found.argmax(axis=-1) if found.shape[-1] > 1 else (found > 0.5).astype("int32")


class OldLogs(dict[str, Any]):
    """Metrics under both names: `acc` and `accuracy`."""

    def __missing__(self, key: Any) -> Any:
        other = _other_name(key)
        if other in self:
            return dict.__getitem__(self, other)
        raise KeyError(key)

    def __contains__(self, key: Any) -> bool:
        return dict.__contains__(self, key) or dict.__contains__(self, _other_name(key))

    def get(self, key: Any, default: Any = None) -> Any:
        try:
            return self[key]
        except KeyError:
            return default


def _other_name(key: Any) -> str:
    key = str(key)
    if key.endswith("accuracy"):
        return key[: -len("accuracy")] + "acc"
    return key + "uracy" if key == "acc" or key.endswith("_acc") else key


def _logs(keras: Library) -> None:
    history = keras.callbacks.History
    put(history, "on_train_begin", _wrap_history)
    utils = importlib.import_module("keras.src.utils.python_utils")
    put(utils, "pythonify_logs", _wrap_pythonify)


def _wrap_history(original: Function) -> Function:
    def on_train_begin(history: Any, logs: Any = None) -> None:
        original(history, logs)
        history.history = OldLogs(history.history)

    return on_train_begin


def _wrap_pythonify(original: Function) -> Function:
    def pythonify_logs(logs: Any) -> Any:
        return OldLogs(original(logs))

    return pythonify_logs


_OPS = """
abs all any argmax argmin clip concatenate cos cumprod cumsum dot equal exp expand_dims flip greater
greater_equal less less_equal log logsumexp max maximum mean min minimum not_equal ones ones_like pow prod
relu repeat reshape round shape sigmoid sign sin softmax softplus softsign sqrt square squeeze stack std
sum tanh tile transpose var zeros zeros_like elu one_hot cast stop_gradient hard_sigmoid
"""
_RENAMED = {"pow": "power", "l2_normalize": "normalize", "permute_dimensions": "transpose"}


def _backend(keras: Library) -> None:
    """`from keras import backend as K`: the functions of old, from `keras.ops`."""
    backend, ops = keras.backend, keras.ops
    for name in (*_OPS.split(), *_RENAMED):
        function = getattr(ops, _RENAMED.get(name, name), None)
        if function is not None and not hasattr(backend, name):
            setattr(backend, name, function)
    own = {
        "get_value": lambda variable: ops.convert_to_numpy(variable),
        "set_value": lambda variable, value: variable.assign(value),
        "int_shape": lambda tensor: tuple(tensor.shape),
        "ndim": lambda tensor: len(tensor.shape),
        "flatten": lambda tensor: ops.reshape(tensor, (-1,)),
        "batch_flatten": lambda tensor: ops.reshape(tensor, (tensor.shape[0], -1)),
        "variable": lambda value, dtype=None, name=None: keras.Variable(value, dtype=dtype, name=name),
        "constant": lambda value, dtype=None, **_: ops.convert_to_tensor(value, dtype=dtype),
        "set_image_dim_ordering": lambda order: keras.config.set_image_data_format(arguments.ORDER[order]),
        "image_dim_ordering": lambda: "th" if keras.config.image_data_format() == "channels_first" else "tf",
        "set_learning_phase": lambda _: None,
        "binary_crossentropy": lambda target, output, from_logits=False: ops.binary_crossentropy(
            target, output, from_logits=from_logits
        ),
        "categorical_crossentropy": lambda target, output, from_logits=False: ops.categorical_crossentropy(
            target, output, from_logits=from_logits
        ),
    }
    for name, function in own.items():
        setattr(backend, name, function)


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


def _seeds() -> None:
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
