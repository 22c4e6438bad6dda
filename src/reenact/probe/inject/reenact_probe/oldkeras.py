"""Lets programs written for Keras 1, Keras 2 or tf.keras run on Keras 3 with torch, without TensorFlow.

Old module names are answered by a finder that stands last, so that whatever is really installed wins. Old
arguments are translated where they are given. What cannot be translated is named: on stderr and in the trace.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import sys
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any

from reenact_probe.late import when_imported
from reenact_probe.oldkeras_modules import make_module, serves
from reenact_probe.places import is_library
from reenact_probe.types import Library, Module

if TYPE_CHECKING:
    from reenact_probe.boot import Session
    from reenact_probe.recorder import Recorder


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


def install(session: Session) -> None:
    """Stand ready for old imports; does nothing where TensorFlow is installed."""
    if "tensorflow" in sys.modules or importlib.util.find_spec("tensorflow") is not None:
        return
    _choose_torch()
    shim = Shim(session.recorder)
    sys.meta_path.append(_Finder(shim))
    when_imported("keras", functools.partial(_adapt, shim))


def _adapt(shim: Shim, keras: Library) -> None:
    from reenact_probe import oldkeras_adapt

    try:
        oldkeras_adapt.adapt(keras, shim)
    except Exception as error:  # noqa: BLE001 - a Keras this shim does not know must still run as it is
        shim.name(f"a part of Keras {keras.__version__} ({type(error).__name__}: {error})")


def _choose_torch() -> None:
    """Keras would look for TensorFlow unless told otherwise."""
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
    """Libraries ask whether TensorFlow is there and would then use it: they are told the truth."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith("<frozen importlib") and "importlib" not in file:
            return is_library(file)
        frame = frame.f_back
    return False
