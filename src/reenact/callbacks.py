"""Callbacks for the loops of Keras, Lightning and Hugging Face: watch the training, diagnose it at its end.

    from reenact import callbacks

    model.fit(x, y, callbacks=[callbacks.keras()])
    lightning.Trainer(callbacks=[callbacks.lightning()])
    transformers.Trainer(..., callbacks=[callbacks.transformers()])

Each takes what `reenact.watch` takes. At the end of the training the findings are printed on stderr and are
`diagnosis` of the callback. The training itself stays as it is: it comes to the same weights.
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from reenact.probe.inprocess import Watching


class _Watch:
    """What the three have in common: begin to look, and say what was seen."""

    def __init__(
        self,
        folder: Path | str | None,
        preset: str,
        quiet: bool,
    ) -> None:
        super().__init__()
        self._watching = Watching(folder=folder, preset=preset)
        self._quiet = quiet
        self._begun = False
        self.diagnosis: Any = None
        """A `Diagnosis`; none until the training has ended, and where nothing was seen."""

    def begin(self) -> None:
        """Called once the loop is about to train."""
        if not self._begun:
            self._watching.start()
            self._begun = True

    def end(self) -> None:
        """Called when the loop has trained, or was interrupted."""
        if not self._begun:
            return
        from reenact.api.training import diagnose_trace
        from reenact.report.recorded import shown
        from reenact.report.render import render

        self._begun = False
        self._watching.stop()
        trace = self._watching.trace
        if trace is None or not trace.step_count:
            return
        self.diagnosis = diagnose_trace(trace)
        if not self._quiet:
            print(  # noqa: T201
                render(shown(self.diagnosis, "this training"), "full", details=False),
                file=sys.stderr,
            )


def keras(
    *,
    folder: Path | str | None = None,
    preset: str = "quick",
    quiet: bool = False,
) -> Any:
    """A `keras.callbacks.Callback` for `model.fit`."""
    callback: Any = import_module("keras.callbacks").Callback

    class KerasWatch(_Watch, callback):  # type: ignore[misc]
        def set_model(self, model: Any) -> None:
            super().set_model(model)
            self.begin()

        def on_train_end(self, logs: Any = None) -> None:  # noqa: ARG002
            self.end()

    return KerasWatch(folder, preset, quiet)


def lightning(
    *, folder: Path | str | None = None, preset: str = "quick", quiet: bool = False
) -> Any:
    """A `lightning.Callback` (or `pytorch_lightning.Callback`) for a `Trainer`."""
    home = "lightning.pytorch" if find_spec("lightning") is not None else "pytorch_lightning"
    callback: Any = import_module(f"{home}.callbacks").Callback

    class LightningWatch(_Watch, callback):  # type: ignore[misc]
        def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:  # noqa: ARG002
            if stage == "fit":
                self.begin()

        def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:  # noqa: ARG002
            if stage == "fit":
                self.end()

    return LightningWatch(folder, preset, quiet)


def transformers(
    *, folder: Path | str | None = None, preset: str = "quick", quiet: bool = False
) -> Any:
    """A `transformers.TrainerCallback` for a `Trainer`."""
    callback: Any = import_module("transformers").TrainerCallback

    class TrainerWatch(_Watch, callback):  # type: ignore[misc]
        def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
            self.begin()

        def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
            self.end()

    return TrainerWatch(folder, preset, quiet)
