"""Old arguments in the words of Keras 3."""

from __future__ import annotations

import sys

from reenact_probe.recorder import Recorder
from reenact_probe.types import Args, Kwargs, Library

ORDER = {"th": "channels_first", "tf": "channels_last", "default": None}

_COMMON = {
    "init": "kernel_initializer", "W_regularizer": "kernel_regularizer", "b_regularizer": "bias_regularizer",
    "U_regularizer": "recurrent_regularizer", "W_constraint": "kernel_constraint",
    "b_constraint": "bias_constraint",
    "bias": "use_bias", "border_mode": "padding", "subsample": "strides", "subsample_length": "strides",
    "nb_filter": "filters", "filter_length": "kernel_size", "pool_length": "pool_size", "stride": "strides",
    "inner_init": "recurrent_initializer", "inner_activation": "recurrent_activation", "dropout_W": "dropout",
    "dropout_U": "recurrent_dropout", "p": "rate", "sigma": "stddev", "atrous_rate": "dilation_rate",
    "gamma_init": "gamma_initializer", "beta_init": "beta_initializer",
}  # fmt: skip
_WIDE = frozenset({"Dense", "LSTM", "GRU", "SimpleRNN"})
_SLOPED = frozenset({"LeakyReLU"})


class Shim:
    """The running shim; `named` holds what it could not translate."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.named: set[str] = set()

    def name(self, what: str, instead: str = "") -> None:
        """Say once that something old has no counterpart."""
        if what in self.named:
            return
        self.named.add(what)
        sentence = f"{what} of older Keras or TensorFlow has no counterpart here" + (
            f": {instead}" if instead else ""
        )
        self.recorder.note_missing(sentence)
        sys.stderr.write(f"reenact: {sentence}.\n")


def layer(kind: str, given: Kwargs, shim: Shim) -> Kwargs:
    """Keyword arguments of a layer."""
    if not given:
        return given
    found: Kwargs = {}
    for key, value in given.items():
        if key == "dim_ordering":
            if ORDER.get(value) is not None:
                found["data_format"] = ORDER[value]
        elif key == "batch_input_shape":
            found["input_shape"] = tuple(value[1:])
        elif key == "mode" and kind == "BatchNormalization":
            if value:
                shim.name(f"BatchNormalization(mode={value})", "mode 0 is used")
        elif key in ("input_length", "consume_less", "forget_bias_init"):
            continue
        elif key == "weights" and kind != "Embedding":
            shim.name(f"{kind}(weights=...)", "the layer keeps its own initial weights")
        else:
            found[_layer_key(kind, key)] = value
    return found


def _layer_key(kind: str, key: str) -> str:
    if key == "output_dim" and kind in _WIDE:
        return "units"
    if key == "alpha" and kind in _SLOPED:
        return "negative_slope"
    if kind == "Embedding" and key in ("init", "W_regularizer"):
        return {"init": "embeddings_initializer", "W_regularizer": "embeddings_regularizer"}[key]
    return _COMMON.get(key, key)


def _convolution_1d(args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs]:
    return args, kwargs


def _convolution_2d(args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs]:
    """`Convolution2D(filters, rows, columns)`: the kernel was two arguments."""
    kwargs = dict(kwargs)
    if len(args) >= 3 and isinstance(args[1], int) and isinstance(args[2], int):
        args = (args[0], (args[1], args[2]), *args[3:])
    if "nb_row" in kwargs and "nb_col" in kwargs:
        kwargs["kernel_size"] = (kwargs.pop("nb_row"), kwargs.pop("nb_col"))
    return args, kwargs


def _convolution_3d(args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs]:
    if len(args) >= 4 and all(isinstance(value, int) for value in args[1:4]):
        args = (args[0], tuple(args[1:4]), *args[4:])
    return args, kwargs


CONVOLUTIONS = {
    "Convolution1D": _convolution_1d,
    "Convolution2D": _convolution_2d,
    "Convolution3D": _convolution_3d,
}


def optimizer(keras: Library, args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs]:
    """`lr` and `decay`: the old decay divided the rate by `1 + decay * steps`."""
    kwargs = dict(kwargs)
    if "lr" in kwargs:
        kwargs["learning_rate"] = kwargs.pop("lr")
    decay = kwargs.pop("decay", 0) or 0
    kwargs.pop("schedule_decay", None)
    if kwargs.get("epsilon", 1) is None:
        del kwargs["epsilon"]
    if decay:
        rate = kwargs.pop("learning_rate", None)
        if rate is None and args:
            rate, args = args[0], args[1:]
        rate = 0.01 if rate is None else rate
        kwargs["learning_rate"] = keras.optimizers.schedules.InverseTimeDecay(rate, 1, decay)
    return args, kwargs


_METHODS: dict[str, dict[str, str | None]] = {
    "fit": {"nb_epoch": "epochs", "nb_worker": None, "show_accuracy": None, "workers": None,
            "max_queue_size": None, "use_multiprocessing": None},
    "evaluate": {"show_accuracy": None, "workers": None, "max_queue_size": None, "use_multiprocessing": None},
    "predict": {"workers": None, "max_queue_size": None, "use_multiprocessing": None},
    "compile": {"class_mode": None, "sample_weight_mode": None, "theano_mode": None},
}  # fmt: skip


def method(name: str, given: Kwargs) -> Kwargs:
    """Keyword arguments of `fit`, `evaluate`, `predict` or `compile`; what has no meaning any more is
    left out.
    """
    return _renamed(given, _METHODS[name])


_GENERATOR: dict[str, str | None] = {
    "generator": "x", "samples_per_epoch": "steps_per_epoch", "nb_epoch": "epochs",
    "val_samples": "steps", "nb_val_samples": "validation_steps", "nb_worker": None,
    "max_q_size": None, "max_queue_size": None,
    "workers": None, "use_multiprocessing": None, "pickle_safe": None,
}  # fmt: skip


def generator(given: Kwargs) -> Kwargs:
    """Keyword arguments of the `..._generator` methods."""
    return _renamed(given, _GENERATOR)


def _renamed(given: Kwargs, names: dict[str, str | None]) -> Kwargs:
    """What the table calls none is left out; what it does not know keeps its name."""
    found = ((names.get(key, key), value) for key, value in given.items())
    return {key: value for key, value in found if key is not None}
