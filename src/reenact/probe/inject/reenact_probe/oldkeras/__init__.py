"""Lets programs written for Keras 1, Keras 2 or tf.keras run on Keras 3 with torch, without
TensorFlow.

Old module names are answered by a finder that is last, so that whatever is really installed
wins. Old arguments are translated where they are given (`adapt.py`). Of TensorFlow itself there are
the few parts that Keras programs touch. What cannot be translated is named: on stderr and in the
trace.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import itertools
import json
import os
import sys
import types
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType
from typing import Any, NamedTuple

from reenact_probe.late import when_imported
from reenact_probe.oldkeras import adapt
from reenact_probe.places import is_library
from reenact_probe.recorder import Recorder
from reenact_probe.types import Facts, Function, Library, Module


def install(recorder: Recorder) -> None:
    """Stand ready for old imports; does nothing where TensorFlow is installed."""
    if "tensorflow" in sys.modules or importlib.util.find_spec("tensorflow") is not None:
        return
    _choose_torch()
    named: set[str] = set()

    def name(what: str, instead: str = "") -> None:
        """Say once that something old has no counterpart."""
        if what not in named:
            named.add(what)
            sentence = f"{what} of older Keras or TensorFlow has no counterpart here"
            sentence += f": {instead}" if instead else ""
            recorder.note_missing(sentence)
            sys.stderr.write(f"reenact: {sentence}.\n")

    def adapt_keras(keras: Library) -> None:
        try:
            adapt.adapt(keras, name)
        except Exception as error:  # noqa: BLE001 - a Keras this shim does not know must still run as it is
            name(f"a part of Keras {keras.__version__} ({type(error).__name__}: {error})")

    sys.meta_path.append(_Finder(name))
    when_imported("keras", adapt_keras)
    when_imported("numpy", adapt.numpy_names)


def _choose_torch() -> None:
    """Keras would look for TensorFlow unless set otherwise."""
    home = os.environ.get("KERAS_HOME") or os.path.join(
        os.path.expanduser("~"),
        ".keras",
    )
    try:
        with open(
            os.path.join(home, "keras.json"),
            encoding="utf-8",
        ) as file:
            configured = str(json.load(file).get("backend", ""))
    except (OSError, ValueError, AttributeError):
        configured = ""
    chosen = os.environ.get("KERAS_BACKEND") or configured not in ("", "tensorflow")
    if not chosen and importlib.util.find_spec("torch") is not None:
        os.environ["KERAS_BACKEND"] = "torch"


class _Finder(NamedTuple):
    """Answers for modules that only older Keras or TensorFlow had."""

    name: Function

    def find_spec(self, name: str, *_: Any) -> ModuleSpec | None:
        served = name in _SOURCES or name.partition(".")[0] in (
            "tensorflow",
            "tf_keras",
        )
        if not served or (name == "tensorflow" and _asked_by_library()):
            return None
        return ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        name = spec.name
        sources = _SOURCES.get(spec.name, ())
        for root in _KERAS:
            if name == root or name.startswith(root + "."):
                # `tensorflow.keras.layers` is `keras.layers`.
                target = "keras" + name[len(root) :]
                sources = (target, target.replace("keras", "keras._tf_keras.keras", 1))
        return _OldModule(name, sources, self.name)

    def exec_module(self, module: Module) -> None:
        parent, _, last = module.__name__.rpartition(".")
        if module.__name__ in _SOURCES:
            if parent in sys.modules and not hasattr(sys.modules[parent], last):
                setattr(sys.modules[parent], last, module)
            return
        # Keras itself must not take the stand-in for TensorFlow: it would hand tensors to it.
        importlib.import_module("keras")
        importlib.import_module("keras.src.utils.module_utils").tensorflow._available = False
        if module.__name__ == "tensorflow":
            _fill_tensorflow(module, self.name)
        elif parent == "tensorflow":
            module.__dict__.update(_PARTS.get(last, dict)())


def _asked_by_library() -> bool:
    """Libraries ask whether TensorFlow is there and would then use it: they get the truth."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith("<frozen importlib") and "importlib" not in file:
            return is_library(file)
        frame = frame.f_back
    return False


_LAYERS = (
    "core convolutional pooling normalization recurrent embeddings advanced_activations merge noise"
)
_LAYERS += (
    " wrappers local convolutional_recurrent cudnn_recurrent normalization.batch_normalization"
)
_UTILS = "np_utils vis_utils visualize_util data_utils io_utils"
_SOURCES: dict[str, tuple[str, ...]] = {
    **{f"keras.layers.{name}": ("keras.layers",) for name in _LAYERS.split()},
    **{f"keras.utils.{name}": ("keras.utils",) for name in _UTILS.split()},
    "keras.utils.generic_utils": ("keras.utils", "keras.saving"),
    "keras.objectives": ("keras.losses",),
    **dict.fromkeys(("keras.engine", "keras.engine.topology"), ("keras.layers", "keras")),
    **dict.fromkeys(("keras.engine.base_layer", "keras.engine.input_layer"), ("keras.layers",)),
    "keras.engine.training": ("keras",),
    "keras.preprocessing.text": ("keras._tf_keras.keras.preprocessing.text",),
    "keras.preprocessing.image": (
        "keras._tf_keras.keras.preprocessing.image",
        "keras.utils",
    ),
    "keras.legacy.interfaces": ("keras.layers",),
    "keras.wrappers.scikit_learn": ("reenact_probe.oldkeras.wrappers",),
}
"""Modules of older Keras, and the modules of today in which their contents lie."""
_KERAS = (
    "tensorflow.keras",
    "tensorflow.python.keras",
    "tensorflow.contrib.keras.api.keras",
    "tf_keras",
)


class _OldModule(types.ModuleType):
    """A module of the past: what it does not hold is looked up in modules of today."""

    def __init__(
        self,
        name: str,
        sources: tuple[str, ...],
        missing: Function,
    ) -> None:
        super().__init__(name)
        self.__path__ = []
        self._sources = sources
        self._missing = missing

    def __getattr__(self, attribute: str) -> Any:
        if attribute == "__all__" and self._sources:
            # What `from MODULE import *` takes.
            names = {name for source in _imported(*self._sources) for name in dir(source)}
            return sorted(name for name in names if not name.startswith("_"))
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        old = self.__name__ in _SOURCES
        held = (getattr(source, attribute, None) for source in _imported(*self._sources))
        below = () if old else _imported(*(f"{source}.{attribute}" for source in self._sources[:1]))
        for value in itertools.chain(held, below):
            if value is not None:
                return value
        if not self._sources:
            self._missing(
                f"{self.__name__}.{attribute}",
                "install tensorflow to run this program",
            )
            raise AttributeError(f"the stand-in for {self.__name__} has no {attribute}")
        name = self.__name__ if old else self._sources[0]
        self._missing(f"{name}.{attribute}")
        raise AttributeError(f"{name} has no {attribute} that Keras 3 still knows")


def _imported(*names: str) -> Iterator[ModuleType]:
    """Those of these modules that can be imported, each when it is asked for."""
    for name in names:
        with contextlib.suppress(ImportError):
            yield importlib.import_module(name)


# The few parts of TensorFlow that Keras programs touch besides `tf.keras`.
_OPS = """
abs add argmax argmin cast clip cos exp expand_dims equal floor greater greater_equal less
less_equal log matmul maximum minimum multiply norm not_equal one_hot ones ones_like pad reshape
round shape sigmoid sign sin sqrt square squeeze stack subtract tanh tensordot tile transpose where zeros
zeros_like convert_to_tensor divide linspace
"""
_RENAMED = {
    "reduce_mean": "mean",
    "reduce_sum": "sum",
    "reduce_max": "max",
    "reduce_min": "min",
    "reduce_prod": "prod",
    "concat": "concatenate",
    "range": "arange",
    "constant": "convert_to_tensor",
    "clip_by_value": "clip",
    "pow": "power",
    "reduce_any": "any",
    "reduce_all": "all",
    "gather": "take",
}
_NN = "relu relu6 elu selu gelu silu leaky_relu sigmoid softmax softplus softsign tanh log_softmax"
_DTYPES = "float16 float32 float64 int8 int16 int32 int64 uint8 bool"


def _fill_tensorflow(root: Module, missing: Function) -> None:
    root.__version__ = "2.0.0"
    root.__dict__.update(
        {name: name for name in _DTYPES.split()},
        **_math(),
    )
    root.keras = importlib.import_module("tensorflow.keras")
    for name, contents in _PARTS.items():
        part = _OldModule(f"tensorflow.{name}", (), missing)
        part.__dict__.update(contents())
        setattr(root, name, part)
    root.compat = types.SimpleNamespace(v1=root)
    root.set_random_seed = adapt.seed_everything


def _from_ops(names: str, **renamed: str) -> Facts:
    return _held(
        "keras.ops",
        **{name: name for name in names.split()},
        **renamed,
    )


def _held(module: str, **names: str) -> Facts:
    """What a module of today holds, by its old names."""
    held = vars(importlib.import_module(module))
    return {old: held[new] for old, new in names.items() if new in held}


def _math() -> Facts:
    return _from_ops(_OPS, **_RENAMED)


_RANDOM = {name: name for name in ("normal", "uniform", "shuffle", "truncated_normal")}
_PARTS: dict[str, Function] = {
    "random": lambda: {
        "set_seed": adapt.seed_everything,
        **_held("keras.random", **_RANDOM),
    },
    "nn": lambda: _from_ops(_NN, swish="silu"),
    "math": _math,
    "config": lambda: {
        "list_physical_devices": lambda *_: [],
        "experimental": types.SimpleNamespace(set_memory_growth=lambda *_, **__: None),
        "set_visible_devices": lambda *_: None,
    },
}
