"""Starts the probe: reads the options, then waits for the program to import what can be observed."""

from __future__ import annotations

import functools
import os
from typing import Any

from reenact_probe import config as configuration
from reenact_probe import ending, guard, late
from reenact_probe.config import Config
from reenact_probe.recorder import Recorder
from reenact_probe.types import Function, Library

_session: Session | None = None


class Session:
    """The running probe of this process."""

    def __init__(self, config: Config, own_process: bool) -> None:
        self.config = config
        self.own_process = own_process
        """The whole process is watched from its start, not a stretch of it."""
        self.recorder = Recorder(config)
        self.torch: Any = None
        self.keras: Any = None
        guard.state.on_error = self._probe_failed

    @property
    def keras_drives(self) -> bool:
        """Keras's `fit` runs: its callbacks tell the metrics, its progress bar only repeats them."""
        return self.keras is not None and self.keras.in_fit

    @guard.guarded("metric")
    def tell_metric(self, name: str, value: Any) -> None:
        """A value that the program itself reports."""
        self.recorder.metric(name, value, "user")

    def _probe_failed(self, sentence: str) -> None:
        self.recorder.event("probe-off", sentence=sentence)
        self.recorder.note_missing(f"{sentence}: nothing after that is recorded")
        self.recorder.flush()


def current() -> Session | None:
    """The session of this process, or none."""
    return _session


@guard.guarded("boot")
def from_environment() -> None:
    """Start when the environment asks for it; called once by the interpreter's start."""
    config = configuration.from_environment()
    if config is not None:
        start(config, own_process=True)


def start(config: Config, own_process: bool = False) -> Session:
    """Begin to observe this process."""
    global _session
    guard.wake()
    session = _session = Session(config, own_process)
    if own_process and config.note_opened:
        from reenact_probe import opened

        opened.install(config.folder)
    if own_process:
        from reenact_probe import seeds

        seeds.install(config.seed)
    if own_process and config.shim:
        from reenact_probe import oldkeras

        oldkeras.install(session.recorder)
    if own_process and config.stand_ins is not None:
        from reenact_probe import standin

        standin.install(session.recorder.folder, config.stand_ins)
    if configuration.is_rank_zero():
        _observe(session, own_process)
    return session


def _observe(session: Session, own_process: bool) -> None:
    os.register_at_fork(after_in_child=_forked)
    experiments = session.config.experiments is not None
    for module, imported in (_EXPERIMENTS if experiments else _OBSERVED).items():
        late.when_imported(module, functools.partial(imported, session))
    if own_process or experiments:
        ending.at_exit(session.recorder)
    if own_process and session.config.tap_output and not experiments:
        from reenact_probe import metrics

        metrics.tap_output(session.recorder, lambda: session.keras_drives)
        metrics.watch_warnings(session.recorder)


@guard.guarded("torch")
def _torch_imported(session: Session, torch: Library) -> None:
    from reenact_probe.torch.observer import TorchObserver

    session.recorder.note_framework("torch", torch.__version__)
    session.torch = TorchObserver(torch, session.recorder)
    session.recorder.join(session.torch)


@guard.guarded("keras")
def _keras_imported(session: Session, keras: Library) -> None:
    recorder, backend = session.recorder, keras.backend.backend()
    recorder.note_framework("keras", keras.__version__)
    recorder.note_framework("keras backend", backend)
    if backend == "torch" and session.torch is not None:
        from reenact_probe.keras.on_torch import KerasOnTorch

        session.keras = KerasOnTorch(keras, recorder, session.torch)
    else:
        from reenact_probe.keras.observer import KerasObserver

        session.keras = KerasObserver(keras, recorder)
        recorder.note_missing(
            f"gradients, weights and layer outputs: Keras runs on {backend}, only fit-level facts are seen"
        )
    recorder.join(session.keras)


@guard.guarded("experiment-torch")
def _torch_for_experiments(session: Session, torch: Library) -> None:
    from reenact_probe.experiment import TakeOver

    session.torch = TakeOver(torch, session.recorder)


@guard.guarded("experiment-keras")
def _keras_for_experiments(session: Session, keras: Library) -> None:
    from reenact_probe.experiment import refuse_backend

    backend = keras.backend.backend()
    if backend == "torch" and session.torch is not None:
        session.torch.join_keras(keras)
    else:
        refuse_backend(keras, backend, session.recorder)


@guard.guarded("lightning-import")
def _lightning_imported(session: Session, module: Library) -> None:
    from reenact_probe.metrics import watch_lightning

    session.recorder.note_framework("lightning", module.__version__)
    watch_lightning(module.__name__, session.recorder)


@guard.guarded("torchmetrics-import")
def _torchmetrics_imported(session: Session, module: Library) -> None:
    from reenact_probe.metrics import watch_torchmetrics

    watch_torchmetrics(module, session.recorder)


_OBSERVED: dict[str, Function] = {
    "torch": _torch_imported,
    "keras": _keras_imported,
    "lightning.pytorch": _lightning_imported,
    "pytorch_lightning": _lightning_imported,
    "torchmetrics": _torchmetrics_imported,
}
_EXPERIMENTS: dict[str, Function] = {"torch": _torch_for_experiments, "keras": _keras_for_experiments}
"""What to do once the program has imported a module."""


def end(session: Session, error: BaseException | None = None) -> None:
    """Stop observing a stretch of this process and close its trace."""
    global _session
    ending.close(session.recorder, error)
    guard.stand_down()
    late.forget()
    _session = None


def _forked() -> None:
    """A child made by fork (a data-loading worker) records nothing."""
    was_asleep, guard.state.asleep = guard.state.asleep, True
    if not was_asleep and _session is not None and _session.torch is not None:
        ending.note_training(_session.recorder.folder)
