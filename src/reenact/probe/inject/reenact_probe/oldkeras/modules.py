"""Lets programs written for Keras 1, Keras 2 or tf.keras run on Keras 3 with torch, without TensorFlow.

Old module names are answered by a finder that stands last, so that whatever is really installed wins. Old
arguments are translated where they are given. What cannot be translated is named: on stderr and in the trace.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import json
import os
import sys
import types
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType
from typing import Any

from reenact_probe.late import when_imported
from reenact_probe.oldkeras import adapt
from reenact_probe.oldkeras.arguments import Shim
from reenact_probe.oldkeras.tensorflow import OldTensorflow, hide_tensorflow
from reenact_probe.places import is_library
from reenact_probe.recorder import Recorder
from reenact_probe.types import Library, Module


class _Finder:
    """Answers for modules that only older Keras or TensorFlow had."""

    def __init__(self, shim: Shim) -> None:
        self.shim = shim

    def find_spec(self, name: str, *_: Any) -> ModuleSpec | None:
        if not serves(name) or (name == "tensorflow" and _asked_by_library()):
            return None
        return ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return make_module(spec.name, self.shim)

    def exec_module(self, module: Module) -> None:
        module.ready()


def install(recorder: Recorder) -> None:
    """Stand ready for old imports; does nothing where TensorFlow is installed."""
    if "tensorflow" in sys.modules or importlib.util.find_spec("tensorflow") is not None:
        return
    _choose_torch()
    shim = Shim(recorder)
    sys.meta_path.append(_Finder(shim))
    when_imported("keras", functools.partial(_adapt, shim))


def _adapt(shim: Shim, keras: Library) -> None:
    try:
        adapt.adapt(keras, shim)
    except Exception as error:  # noqa: BLE001 - a Keras this shim does not know must still run as it is
        shim.name(f"a part of Keras {keras.__version__} ({type(error).__name__}: {error})")


def _choose_torch() -> None:
    """Keras would look for TensorFlow unless set otherwise."""
    if os.environ.get("KERAS_BACKEND") or _configured_backend() not in ("", "tensorflow"):
        return
    if importlib.util.find_spec("torch") is not None:
        os.environ["KERAS_BACKEND"] = "torch"


def _configured_backend() -> str:
    home = os.environ.get("KERAS_HOME") or os.path.join(os.path.expanduser("~"), ".keras")
    try:
        with open(os.path.join(home, "keras.json"), encoding="utf-8") as file:
            return str(json.load(file).get("backend", ""))
    except (OSError, ValueError, AttributeError):
        return ""


def _asked_by_library() -> bool:
    """Libraries ask whether TensorFlow is there and would then use it: they get the truth."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith("<frozen importlib") and "importlib" not in file:
            return is_library(file)
        frame = frame.f_back
    return False


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
        hide_tensorflow()

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
