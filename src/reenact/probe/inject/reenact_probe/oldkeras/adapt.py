"""Teaches Keras 3 the old names and arguments: layers, optimizers, models, metrics, backend
functions, seeds.

`numpy.random.seed` or `tf.random.set_seed` used to decide the initial weights. Keras 3 draws the
seeds of its initializers from Python's `random`, and torch has a generator of its own. An old
program that seeds numpy alone expects the same run again; so those two are seeded along with it.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import random
import sys
from collections.abc import Callable
from itertools import compress
from numbers import Integral
from typing import Any, NamedTuple

from reenact_probe.types import Args, Function, Kwargs, Library

Translate = Callable[[Args, Kwargs], tuple[Args, Kwargs]]
"""From arguments as they were once given to those of today."""
ORDER = {
    "th": "channels_first",
    "tf": "channels_last",
    "default": None,
}
_LAYER_ARGUMENTS = {
    "init": "kernel_initializer",
    "W_regularizer": "kernel_regularizer",
    "b_regularizer": "bias_regularizer",
    "U_regularizer": "recurrent_regularizer",
    "W_constraint": "kernel_constraint",
    "b_constraint": "bias_constraint",
    "bias": "use_bias",
    "border_mode": "padding",
    "subsample": "strides",
    "subsample_length": "strides",
    "nb_filter": "filters",
    "filter_length": "kernel_size",
    "pool_length": "pool_size",
    "stride": "strides",
    "inner_init": "recurrent_initializer",
    "inner_activation": "recurrent_activation",
    "dropout_W": "dropout",
    "dropout_U": "recurrent_dropout",
    "p": "rate",
    "sigma": "stddev",
    "atrous_rate": "dilation_rate",
    "gamma_init": "gamma_initializer",
    "beta_init": "beta_initializer",
}
_SPECIAL_ARGUMENTS = {
    **{(kind, "output_dim"): "units" for kind in ("Dense", "LSTM", "GRU", "SimpleRNN")},
    ("LeakyReLU", "alpha"): "negative_slope",
    ("Embedding", "init"): "embeddings_initializer",
    ("Embedding", "W_regularizer"): "embeddings_regularizer",
}
"""Arguments that one kind of layer had under a name of its own."""
_METHOD_ARGUMENTS: dict[str, str | None] = {
    "nb_epoch": "epochs",
    "generator": "x",
    "samples_per_epoch": "steps_per_epoch",
    "val_samples": "steps",
    "nb_val_samples": "validation_steps",
    **dict.fromkeys(
        (
            "nb_worker",
            "show_accuracy",
            "workers",
            "max_queue_size",
            "max_q_size",
            "use_multiprocessing",
            "pickle_safe",
            "class_mode",
            "sample_weight_mode",
            "theano_mode",
        )
    ),
}
"""Of `fit`, `evaluate`, `predict`, `compile` and the `_generator` methods; none: without
meaning today.
"""


def adapt(keras: Library, missing: Function) -> None:
    """Everything at once, right after Keras was imported; `missing` names what has no
    counterpart.
    """
    _seeds()
    _layers(keras, missing)
    for part in (_optimizers, _models, _losses, _logs, _backend):
        part(keras)


def numpy_names(numpy: Library) -> None:
    """`np.float` and the like: names of Python's own types that numpy 1.24 took away."""
    for name in ("float", "int", "bool", "object", "str", "complex"):
        if name not in vars(numpy):
            setattr(numpy, name, getattr(builtins, name))


def _put(
    owner: Any,
    name: str,
    make: Callable[[Function], Function],
) -> None:
    """Replace an attribute for good: a program that needs the shim needs it also when the probe is
    switched off."""
    original = getattr(owner, name)
    setattr(
        owner,
        name,
        functools.wraps(original)(make(original)),
    )


def _translated(translate: Translate, original: Function) -> Function:
    """A method that takes the old arguments as well."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = translate(args, kwargs)
        return original(self, *args, **kwargs)

    return method


def _layers(keras: Library, missing: Function) -> None:
    layers = keras.layers
    for cls in {
        getattr(layers, name) for name in dir(layers) if isinstance(getattr(layers, name), type)
    }:
        if issubclass(cls, layers.Layer) and "__init__" in vars(cls):
            # Without `functools.wraps`: Keras reads this signature to bind what the layer is given.
            translate = functools.partial(_layer_arguments, missing, cls.__name__)
            cls.__init__ = _translated(translate, cls.__init__)
    layers.Convolution2D = _kernel_in_parts(layers.Convolution2D, 2)
    layers.Convolution3D = _kernel_in_parts(layers.Convolution3D, 3)
    layers.TimeDistributedDense = lambda *a, **k: layers.TimeDistributed(layers.Dense(*a, **k))
    layers.AtrousConvolution2D, layers.Deconvolution2D = (
        layers.Conv2D,
        layers.Conv2DTranspose,
    )
    layers.merge = _merge(layers)
    for old, new in (
        ("l1l2", "l1_l2"),
        ("activity_l2", "l2"),
        ("activity_l1", "l1"),
    ):
        setattr(keras.regularizers, old, getattr(keras.regularizers, new))
    layers.CuDNNLSTM, layers.CuDNNGRU = layers.LSTM, layers.GRU
    _put(layers.RNN, "call", functools.partial(_own_states, keras))
    layers.Layer.input_shape = _ShapeOf("input")
    layers.Layer.output_shape = _ShapeOf("output")


class _ShapeOf(NamedTuple):
    """`layer.output_shape`. A layer of the program's own may still keep something under that name."""

    name: str

    def __get__(self, layer: Any, _: Any = None) -> Any:
        if layer is None:
            return self
        return tuple(getattr(layer, self.name).shape)


class _BatchShape(tuple[Any, ...]):
    """A shape with the batch in it, on its way from a layer to the input that is made for it."""


def _plain(value: Any) -> Any:
    """Whole numbers of numpy as those of Python, also inside a shape."""
    if isinstance(value, (tuple, list)):
        if type(value) not in (tuple, list):
            return value
        return type(value)(map(_plain, value))
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    return value


def _layer_arguments(
    missing: Function,
    kind: str,
    args: Args,
    kwargs: Kwargs,
) -> tuple[Args, Kwargs]:
    given: Kwargs = {}
    for key, value in kwargs.items():
        if key == "dim_ordering":
            given.update({"data_format": ORDER[value]} if ORDER.get(value) is not None else {})
        elif key == "batch_input_shape":
            given["input_shape"] = _BatchShape(_plain(tuple(value)))
        elif kind == "InputLayer" and isinstance(value, _BatchShape):
            given["batch_shape"] = tuple(value)
        elif key == "mode" and kind == "BatchNormalization":
            if value:
                missing(f"BatchNormalization(mode={value})", "mode 0 is used")
        elif key == "weights" and kind != "Embedding":
            missing(f"{kind}(weights=...)", "the layer keeps its own initial weights")
        elif key not in ("input_length", "consume_less", "forget_bias_init"):
            given[_SPECIAL_ARGUMENTS.get((kind, key)) or _LAYER_ARGUMENTS.get(key, key)] = _plain(
                value
            )
    return _plain(args), given


def _own_states(keras: Library, original: Function) -> Function:
    """A stateful layer writes its states in place; what gradients go back through must be a
    copy of them.
    """

    def call(
        layer: Any,
        sequences: Any,
        initial_state: Any = None,
        **kwargs: Any,
    ) -> Any:
        if layer.stateful and initial_state is None and layer.states is not None:
            initial_state = [
                keras.ops.stop_gradient(keras.ops.copy(state)) for state in layer.states
            ]
        return original(layer, sequences, initial_state=initial_state, **kwargs)

    return call


def _kernel_in_parts(cls: Any, parts: int) -> Function:
    """`Convolution2D(filters, rows, columns)`: the kernel was several arguments."""

    def make(*args: Any, **kwargs: Any) -> Any:
        sizes = args[1 : parts + 1]
        if len(sizes) == parts and all(isinstance(size, int) for size in sizes):
            args = (
                args[0],
                sizes,
                *args[parts + 1 :],
            )
        if parts == 2 and "nb_row" in kwargs and "nb_col" in kwargs:
            kwargs["kernel_size"] = (
                kwargs.pop("nb_row"),
                kwargs.pop("nb_col"),
            )
        return cls(*args, **kwargs)

    make.__name__ = cls.__name__
    return make


def _merge(layers: Any) -> Function:
    """`merge(inputs, mode="concat")`, which became a function for each mode."""
    modes = {
        "concat": layers.concatenate,
        "sum": layers.add,
        "mul": layers.multiply,
        "ave": layers.average,
        "max": layers.maximum,
        "dot": layers.dot,
    }

    def merge(
        inputs: Any,
        mode: Any = "sum",
        concat_axis: Any = -1,
        dot_axes: Any = -1,
        name: Any = None,
        **_: Any,
    ) -> Any:
        extra = {"concat": {"axis": concat_axis}, "dot": {"axes": dot_axes}}.get(
            mode,
            {},
        )
        return modes[mode](inputs, name=name, **extra)

    return merge


def _optimizers(keras: Library) -> None:
    base = importlib.import_module("keras.src.optimizers.base_optimizer").BaseOptimizer
    named = [getattr(keras.optimizers, name) for name in dir(keras.optimizers)]
    for cls in {item for item in named if isinstance(item, type)}:
        if issubclass(cls, base) and cls is not base and "__init__" in vars(cls):
            translate = functools.partial(_optimizer_arguments, keras)
            _put(cls, "__init__", functools.partial(_translated, translate))
    base.lr = property(
        lambda self: self.learning_rate,
        lambda self, new: setattr(self, "learning_rate", new),
    )


def _optimizer_arguments(
    keras: Library,
    args: Args,
    kwargs: Kwargs,
) -> tuple[Args, Kwargs]:
    """`lr` and `decay`: the old decay divided the rate by `1 + decay * steps`."""
    if "lr" in kwargs:
        kwargs["learning_rate"] = kwargs.pop("lr")
    decay = kwargs.pop("decay", 0)
    _ = kwargs.pop("schedule_decay", None)
    if kwargs.get("epsilon", 1) is None:
        del kwargs["epsilon"]
    if decay:
        rate = kwargs.pop("learning_rate", None)
        if rate is None and args:
            rate = args[0]
            args = args[1:]
        first = 0.01 if rate is None else rate
        kwargs["learning_rate"] = keras.optimizers.schedules.InverseTimeDecay(first, 1, decay)
    return args, kwargs


def _models(keras: Library) -> None:
    model = keras.Model
    keras.models.Input = keras.Input
    for name in ("fit", "evaluate", "predict", "compile"):
        owner = next(base for base in model.__mro__ if name in vars(base))
        _put(owner, name, functools.partial(_translated, _method_arguments))
        if name != "compile":
            _put(owner, name, functools.partial(_taking_rows, keras.Sequential))
    functional = importlib.import_module("keras.src.models.functional").Functional
    _put(functional, "__init__", functools.partial(_translated, _plural))
    model.__new__ = staticmethod(_translated(_plural, model.__new__))
    model.fit_generator = lambda self, *args, **kwargs: self.fit(*args, **kwargs)
    model.evaluate_generator = lambda self, *args, **kwargs: self.evaluate(*args, **kwargs)
    model.predict_generator = lambda self, *args, **kwargs: self.predict(*args, **kwargs)
    model.predict_proba = model.predict_generator

    def predict_classes(self: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        scores = self.predict(x, *args, **kwargs)
        if scores.shape[-1] > 1:
            return scores.argmax(axis=-1)
        return (scores > 0.5).astype("int32")

    model.predict_classes = predict_classes


def _method_arguments(args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs]:
    """What the table calls none is left out; what it does not know keeps its name."""
    named = ((_METHOD_ARGUMENTS.get(key, key), value) for key, value in kwargs.items())
    return args, {key: value for key, value in named if key is not None}


def _taking_rows(sequential: type, original: Function) -> Function:
    """Lists as data, and rows of one number each without a second dimension."""

    def method(model: Any, *args: Any, **kwargs: Any) -> Any:
        chain = isinstance(model, sequential)
        inputs, outputs = (getattr(model, side, None) or () for side in ("inputs", "outputs"))
        one_in = chain or len(inputs) == 1
        one_out = chain or len(outputs) == 1
        flat = any(len(tensor.shape) == 1 for tensor in inputs)

        def adapted(key: Any, value: Any) -> Any:
            if key in (0, "x"):
                return _rows(value, flat) if one_in else value
            if key == "validation_data" and isinstance(value, (tuple, list)) and len(value) > 1:
                return adapted("x", value[0]), adapted("y", value[1]), *value[2:]
            if key in (1, "y") and one_out:
                return _rows(value, False)
            return value

        args = tuple(adapted(number, value) for number, value in enumerate(args))
        return original(
            model,
            *args,
            **{key: adapted(key, value) for key, value in kwargs.items()},
        )

    return method


def _rows(data: Any, flat: bool) -> Any:
    data = _array(data)
    if type(data).__name__ == "ndarray" and data.ndim == 1 and not flat:
        return data[:, None]
    return data


def _array(data: Any) -> Any:
    """A list of rows as one array; what else there is stays as it is."""
    import numpy

    if not isinstance(data, list) or not data or (len(data) == 1 and hasattr(data[0], "dtype")):
        return data
    try:
        made = numpy.asarray(data)
    except ValueError:
        return data
    return made if made.dtype.kind in "biuf" else data


def _plural(args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs]:
    names = {"input": "inputs", "output": "outputs"}
    return args, {names.get(key, key): value for key, value in kwargs.items()}


def _losses(keras: Library) -> None:
    """Names of losses that Keras 3 spells otherwise."""
    known = importlib.import_module("keras.src.losses").ALL_OBJECTS_DICT
    for old, new in (
        ("logcosh", "log_cosh"),
        ("cosine_proximity", "cosine_similarity"),
    ):
        known.setdefault(old, getattr(keras.losses, new))
        setattr(
            keras.losses,
            old,
            getattr(keras.losses, old, getattr(keras.losses, new)),
        )


class OldLogs(dict[str, Any]):
    """Metrics under both names: `acc` and `accuracy`."""

    def __missing__(self, key: Any) -> Any:
        other = _other_name(key)
        if not dict.__contains__(self, other):
            raise KeyError(key)
        return dict.__getitem__(self, other)

    def __contains__(self, key: Any) -> bool:
        return dict.__contains__(self, key) or dict.__contains__(self, _other_name(key))

    def get(self, key: Any, default: Any = None) -> Any:
        return self[key] if key in self else default  # noqa: SIM401 - this is what `get` does


def _other_name(key: Any) -> str:
    key = str(key)
    if key.endswith("accuracy"):
        return key[: -len("accuracy")] + "acc"
    if key == "acc" or key.endswith("_acc"):
        return key + "uracy"
    return key


def _logs(keras: Library) -> None:
    original = keras.callbacks.History.on_train_begin

    def on_train_begin(history: Any, logs: Any = None) -> None:
        original(history, logs)
        history.history = OldLogs(history.history)

    keras.callbacks.History.on_train_begin = on_train_begin
    utils = importlib.import_module("keras.src.utils.python_utils")
    _put(
        utils,
        "pythonify_logs",
        lambda original: lambda logs: OldLogs(original(logs)),
    )


_OPS = """
abs all any argmax argmin clip concatenate cos cumprod cumsum dot equal exp expand_dims flip greater
greater_equal less less_equal log logsumexp max maximum mean min minimum not_equal ones ones_like pow prod
relu repeat reshape round shape sigmoid sign sin softmax softplus softsign sqrt square squeeze stack std
sum tanh tile transpose var zeros zeros_like elu one_hot cast stop_gradient hard_sigmoid
"""
_RENAMED = {
    "pow": "power",
    "l2_normalize": "normalize",
    "permute_dimensions": "transpose",
}


def _backend(keras: Library) -> None:
    """`from keras import backend as K`: the functions of old, from `keras.ops`."""
    backend = keras.backend
    ops = keras.ops
    for name in (*_OPS.split(), *_RENAMED):
        function = getattr(ops, _RENAMED.get(name, name), None)
        if function is not None and not hasattr(backend, name):
            setattr(backend, name, function)
    own = {
        "get_value": ops.convert_to_numpy,
        "set_value": lambda variable, value: variable.assign(value),
        "int_shape": lambda tensor: tuple(tensor.shape),
        "ndim": lambda tensor: len(tensor.shape),
        "flatten": lambda tensor: ops.reshape(tensor, (-1,)),
        "batch_flatten": lambda tensor: ops.reshape(
            tensor,
            (tensor.shape[0], -1),
        ),
        "variable": lambda value, dtype=None, name=None: keras.Variable(
            value, dtype=dtype, name=name
        ),
        "constant": lambda value, dtype=None, **_: ops.convert_to_tensor(value, dtype=dtype),
        "set_image_dim_ordering": lambda order: keras.config.set_image_data_format(ORDER[order]),
        "image_dim_ordering": lambda: (
            "th" if keras.config.image_data_format() == "channels_first" else "tf"
        ),
        "set_learning_phase": lambda _: None,
        "learning_phase": lambda: 0,
        "function": functools.partial(_function, keras),
        "binary_crossentropy": ops.binary_crossentropy,
        "categorical_crossentropy": ops.categorical_crossentropy,
    }
    vars(backend).update(own)


def _function(
    keras: Library,
    inputs: Any,
    outputs: Any,
    *_: Any,
    **__: Any,
) -> Function:
    """`K.function`: from input tensors, and the learning phase next to them, to arrays of the
    outputs.
    """
    several = isinstance(outputs, (list, tuple))
    symbolic = [isinstance(tensor, keras.KerasTensor) for tensor in inputs]
    part = keras.Model(
        list(compress(inputs, symbolic)),
        list(outputs) if several else [outputs],
    )

    def compute(values: Any) -> Any:
        values = values if isinstance(values, (list, tuple)) else [values]
        given = [_array(value) for value in compress(values, symbolic)]
        training = any(value for value, is_tensor in zip(values, symbolic) if not is_tensor)
        made = part(given, training=training)
        arrays = [
            keras.ops.convert_to_numpy(one) for one in (made if isinstance(made, list) else [made])
        ]
        return arrays if several else arrays[0]

    return compute


def seed_everything(seed: Any) -> None:
    """Seed what decides weights and shuffling; numpy itself is left to the program."""
    if isinstance(seed, int):
        _seed(seed)
        state = importlib.import_module("keras.src.backend.common.global_state")
        generator = importlib.import_module("keras.src.random.seed_generator").GLOBAL_SEED_GENERATOR
        state.set_global_attribute(generator, None)


def _seed(seed: int) -> None:
    random.seed(seed)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)


def _seeds() -> None:
    """Let `numpy.random.seed` seed the others as well, and make up for a call that came before
    Keras.
    """
    import numpy

    original = numpy.random.seed
    drawn: Any = numpy.random.get_state()

    @functools.wraps(original)
    def seed(*args: Any, **kwargs: Any) -> None:
        original(*args, **kwargs)
        value: Any = args[0] if args else kwargs.get("seed")
        if hasattr(value, "__index__"):
            seed_everything(value.__index__())

    numpy.random.seed = seed
    _seed(int(drawn[1][0]))
