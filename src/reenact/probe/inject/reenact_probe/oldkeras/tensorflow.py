"""A stand-in for the few parts of TensorFlow that Keras programs touch beside `tf.keras`."""

from __future__ import annotations

import importlib
import types

from reenact_probe.oldkeras.adapt import seed_everything
from reenact_probe.oldkeras.arguments import Shim
from reenact_probe.types import Facts

_OPS = """
abs add argmax argmin cast clip concat cos exp expand_dims equal floor greater greater_equal less
less_equal log matmul maximum minimum multiply norm not_equal one_hot ones ones_like pad range reshape
round shape sigmoid sign sin sqrt square squeeze stack subtract tanh tensordot tile transpose where zeros
zeros_like
"""
_RENAMED = {
    "reduce_mean": "mean", "reduce_sum": "sum", "reduce_max": "max", "reduce_min": "min",
    "reduce_prod": "prod", "concat": "concatenate", "range": "arange", "constant": "convert_to_tensor",
    "convert_to_tensor": "convert_to_tensor",
    "clip_by_value": "clip", "pow": "power", "divide": "divide", "reduce_any": "any", "reduce_all": "all",
    "gather": "take", "linspace": "linspace",
}  # fmt: skip
_NN_OPS = "relu relu6 elu selu gelu silu leaky_relu sigmoid softmax softplus softsign tanh log_softmax"
_NN = {**{op: op for op in _NN_OPS.split()}, "swish": "silu"}
_DTYPES = ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool"]
_VERSION = "2.0.0"


class OldTensorflow(types.ModuleType):
    """`tensorflow` and its submodules. What is not here is named and raises AttributeError."""

    def __init__(self, name: str, shim: Shim) -> None:
        super().__init__(name)
        self.__path__ = []
        self.__version__ = _VERSION
        self._shim = shim

    def ready(self) -> None:
        hide_tensorflow()
        part = self.__name__.partition(".")[2]
        if part:
            self.__dict__.update(_part(part) or {})
            return
        self.keras = importlib.import_module("tensorflow.keras")
        self.random = _Part("tensorflow.random", _random(), self._shim)
        self.nn = _Part("tensorflow.nn", _from_ops(_NN), self._shim)
        self.math = _Part(
            "tensorflow.math", _from_ops({**_RENAMED, **{op: op for op in _OPS.split()}}), self._shim
        )
        self.config = _Part("tensorflow.config", _config(), self._shim)
        self.compat = _Part("tensorflow.compat", {"v1": self}, self._shim)
        self.set_random_seed = self.random.set_seed
        self.__dict__.update({name: name for name in _DTYPES})
        self.__dict__.update(_from_ops({**{op: op for op in _OPS.split()}, **_RENAMED}))

    def __getattr__(self, attribute: str) -> None:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        self._shim.name(f"{self.__name__}.{attribute}", "install tensorflow to run this program")
        raise AttributeError(f"the stand-in for {self.__name__} has no {attribute}")


class _Part(types.ModuleType):
    """One namespace of it."""

    def __init__(self, name: str, contents: Facts, shim: Shim) -> None:
        super().__init__(name)
        self.__dict__.update(contents)
        self._shim = shim

    def __getattr__(self, attribute: str) -> None:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        self._shim.name(f"{self.__name__}.{attribute}", "install tensorflow to run this program")
        raise AttributeError(f"the stand-in for {self.__name__} has no {attribute}")


def _from_ops(names: dict[str, str]) -> Facts:
    ops = importlib.import_module("keras.ops")
    return {old: getattr(ops, new) for old, new in names.items() if hasattr(ops, new)}


def _random() -> Facts:
    keras_random = importlib.import_module("keras.random")
    names = ("normal", "uniform", "shuffle", "truncated_normal")
    return {"set_seed": seed_everything, **{name: getattr(keras_random, name) for name in names}}


def _config() -> Facts:
    nothing = types.SimpleNamespace(set_memory_growth=lambda *_, **__: None)
    return {
        "list_physical_devices": lambda *_: [],
        "experimental": nothing,
        "set_visible_devices": lambda *_: None,
    }


def _part(name: str) -> Facts:
    """Contents of a submodule that is imported by name."""
    if name == "random":
        return _random()
    if name == "nn":
        return _from_ops(_NN)
    return {}


def hide_tensorflow() -> None:
    """Keras itself must not take the stand-in for TensorFlow: it would hand tensors to it."""
    importlib.import_module("keras")
    lazy = importlib.import_module("keras.src.utils.module_utils").tensorflow
    lazy._available = False
