"""Watch a training from inside its process: `with reenact.watch(model): ...`, and
`reenact.metric(...)`.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import Any

from reenact.errors import InputError
from reenact.probe import injected
from reenact.probe.options import PRESETS, fresh_folder
from reenact.probe.read import is_trace, read_trace
from reenact.probe.trace import Trace
from reenact.redact import for_probe


class Watching:
    """A running watch. Under `reenact watch` the outer one records, and this one does nothing."""

    def __init__(
        self,
        model: Any = None,
        *,
        folder: Path | str | None = None,
        preset: str = "quick",
    ) -> None:
        if preset not in PRESETS:
            raise InputError(
                f"A preset is one of {', '.join(PRESETS)}. Received: preset={preset!r}."
            )
        self._model = model
        self._preset = preset
        self._given = Path(folder) if folder is not None else None
        self._session: Any = None
        self._trace: Trace | None = None
        self.folder: Path | None = None
        """Where the trace lies, once the watch has begun."""

    def start(self) -> Watching:
        """Begin to look. Raises InputError when another watch runs in this process."""
        boot = injected.part("boot")
        if boot.current() is not None:
            if boot.current().own_process:
                return self
            end_it = "End it before you begin this one."
            raise InputError("Another watch runs in this process.", next_step=end_it)
        self.folder = (self._given or fresh_folder("inprocess")).resolve()
        if self.folder.exists() and any(self.folder.iterdir()):
            why = f"A trace needs a folder of its own. Received: {self.folder}, which is not empty."
            raise InputError(why)
        options = {
            "preset": self._preset,
            "tap_output": False,
            "hide": for_probe(os.environ),
        }
        self._session = boot.start(
            injected.part("config").Config(
                str(self.folder),
                **options,
            )
        )
        if self._model is not None and self._session.torch is not None:
            self._session.torch.introduce(self._model)
        return self

    __enter__ = start

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop(error)

    def stop(self, error: BaseException | None = None) -> None:
        """Put everything back and close the trace."""
        session, self._session = self._session, None
        if session is not None:
            injected.part("boot").end(session, error)

    @property
    def trace(self) -> Trace | None:
        """What was seen, once the watch has ended; none when nothing was trained."""
        ended = self._session is None and self._trace is None
        if ended and self.folder is not None and is_trace(self.folder):
            self._trace = read_trace(self.folder)
        return self._trace


def watch(
    model: Any = None, *, folder: Path | str | None = None, preset: str = "quick"
) -> Watching:
    """Look at what is trained in a `with` block. The model only lends its parameters their
    names.
    """
    return Watching(model, folder=folder, preset=preset)


def metric(name: str, value: float) -> None:
    """Tell the probe a value of a metric; does nothing when no one watches."""
    session = injected.part("boot").current()
    if session is not None:
        session.tell_metric(name, value)
