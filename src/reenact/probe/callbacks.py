"""Callbacks for people who would rather add one line than start another command.

`KerasCallback()` goes into `model.fit(callbacks=[...])`, `LightningCallback()` into
`Trainer(callbacks=[...])`. The classes are made on first use: this module imports neither Keras nor
Lightning.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from reenact.errors import MissingExtra
from reenact.probe import injected
from reenact.probe.inprocess import Watching

__all__ = ["KerasCallback", "LightningCallback"]  # noqa: F822


def __getattr__(name: str) -> Any:
    if name == "KerasCallback":
        return _keras_class()
    if name == "LightningCallback":
        return _lightning_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@cache
def _keras_class() -> type:
    try:
        import keras
    except ImportError as error:
        raise MissingExtra("keras", "keras") from error

    class KerasCallback(keras.callbacks.Callback):  # type: ignore[misc]
        """Watches one `fit`; the trace is in `.trace` afterwards."""

        def __init__(self, folder: Path | str | None = None, preset: str = "quick") -> None:
            super().__init__()
            self.watching = Watching(folder=folder, preset=preset)

        @property
        def trace(self) -> Any:
            return self.watching.trace

        def on_train_begin(self, logs: Any = None) -> None:  # noqa: ARG002
            self.watching.start()
            _tell_keras(self.model, begins=True)

        def on_train_end(self, logs: Any = None) -> None:  # noqa: ARG002
            _tell_keras(self.model, begins=False)
            self.watching.stop()

    return KerasCallback


def _tell_keras(model: Any, *, begins: bool) -> None:
    """This `fit` began before anybody looked: say so to the observer."""
    session = injected.part("boot").current()
    if session is not None and session.keras is not None and not session.own_process:
        session.keras.joined(model, begins)


@cache
def _lightning_class() -> type:
    try:
        from lightning.pytorch.callbacks import Callback
    except ImportError as error:
        raise MissingExtra("lightning", "lightning") from error

    class LightningCallback(Callback):
        """Watches one `Trainer.fit`; the trace is in `.trace` afterwards."""

        def __init__(self, folder: Path | str | None = None, preset: str = "quick") -> None:
            super().__init__()
            self.watching = Watching(folder=folder, preset=preset)

        @property
        def trace(self) -> Any:
            return self.watching.trace

        def on_fit_start(self, trainer: Any, pl_module: Any) -> None:  # noqa: ARG002
            self.watching.start(pl_module)

        def on_fit_end(self, trainer: Any, pl_module: Any) -> None:  # noqa: ARG002
            self.watching.stop()

        def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:  # noqa: ARG002
            self.watching.stop(exception)

    return LightningCallback
