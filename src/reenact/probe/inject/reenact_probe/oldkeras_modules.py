"""The modules that older Keras and TensorFlow had, and where their contents are today."""

from __future__ import annotations

import importlib
import sys
import types
from types import ModuleType
from typing import TYPE_CHECKING, Any

from reenact_probe.types import Module

if TYPE_CHECKING:
    from reenact_probe.oldkeras import Shim

_LAYERS = "core convolutional pooling normalization recurrent embeddings advanced_activations merge noise"
_LAYERS += " wrappers local convolutional_recurrent cudnn_recurrent"
SOURCES = {
    **{f"keras.layers.{name}": ("keras.layers",) for name in _LAYERS.split()},
    "keras.layers.normalization.batch_normalization": ("keras.layers",),
    "keras.utils.np_utils": ("keras.utils",),
    "keras.utils.vis_utils": ("keras.utils",),
    "keras.utils.visualize_util": ("keras.utils",),
    "keras.utils.generic_utils": ("keras.utils", "keras.saving"),
    "keras.utils.data_utils": ("keras.utils",),
    "keras.utils.io_utils": ("keras.utils",),
    "keras.objectives": ("keras.losses",),
    "keras.engine": ("keras.layers", "keras"),
    "keras.engine.topology": ("keras.layers", "keras"),
    "keras.engine.training": ("keras",),
    "keras.engine.base_layer": ("keras.layers",),
    "keras.engine.input_layer": ("keras.layers",),
    "keras.preprocessing.text": ("keras._tf_keras.keras.preprocessing.text",),
    "keras.preprocessing.image": ("keras._tf_keras.keras.preprocessing.image", "keras.utils"),
    "keras.legacy.interfaces": ("keras.layers",),
    "keras.wrappers.scikit_learn": (),
}
_TENSORFLOW = ("tensorflow", "tf_keras")
_KERAS_IN_TENSORFLOW = (
    "tensorflow.keras",
    "tensorflow.python.keras",
    "tensorflow.contrib.keras.api.keras",
    "tf_keras",
)


def serves(name: str) -> bool:
    """Whether this is a name of the past that the shim answers for."""
    return name in SOURCES or name.partition(".")[0] in _TENSORFLOW


def make_module(name: str, shim: Shim) -> ModuleType:
    """The module object for an old name."""
    inside = next(
        (root for root in _KERAS_IN_TENSORFLOW if name == root or name.startswith(root + ".")), None
    )
    if inside is not None:
        return _Alias(name, "keras" + name[len(inside) :], shim)
    if name == "tensorflow" or name.startswith("tensorflow."):
        from reenact_probe.oldtensorflow import OldTensorflow

        return OldTensorflow(name, shim)
    return _Gathered(name, SOURCES[name], shim)


class _Alias(types.ModuleType):
    """`tensorflow.keras.layers` is `keras.layers`: every attribute is looked up there."""

    def __init__(self, name: str, target: Any, shim: Shim) -> None:
        super().__init__(name)
        self.__path__ = []
        self._target_name = target
        self._shim = shim

    def ready(self) -> None:
        _hide_tensorflow()

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        return look_up(self._target_name, attribute, self._shim)


class _Gathered(types.ModuleType):
    """An old module whose contents lie in one or more modules of today."""

    def __init__(self, name: str, sources: tuple[str, ...], shim: Shim) -> None:
        super().__init__(name)
        self.__path__ = []
        self._sources = sources
        self._shim = shim

    def ready(self) -> None:
        parent, _, last = self.__name__.rpartition(".")
        if parent in sys.modules and not hasattr(sys.modules[parent], last):
            setattr(sys.modules[parent], last, self)

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        for source in self._sources:
            found = getattr(importlib.import_module(source), attribute, None)
            if found is not None:
                return found
        self._shim.name(f"{self.__name__}.{attribute}")
        raise AttributeError(f"{self.__name__} has no {attribute} that Keras 3 still knows")


def look_up(module: Module, attribute: str, shim: Shim) -> Any:
    """An attribute of a Keras module; a submodule when there is one."""
    for name in (module, "keras._tf_" + module.replace("keras", "keras.keras", 1)):
        try:
            found = getattr(importlib.import_module(name), attribute, None)
        except ImportError:
            continue
        if found is not None:
            return found
    try:
        return importlib.import_module(f"{module}.{attribute}")
    except ImportError:
        shim.name(f"{module}.{attribute}")
        raise AttributeError(f"{module} has no {attribute} that Keras 3 still knows") from None


def _hide_tensorflow() -> None:
    """Keras itself must not take the stand-in for TensorFlow: it would hand tensors to it."""
    importlib.import_module("keras")
    lazy = importlib.import_module("keras.src.utils.module_utils").tensorflow
    lazy._available = False
